/** Icons: a few drawn shapes, one for each family of names, so that none is empty. */

const SHAPES: [RegExp, string][] = [
  [/search|telescope|scan/, "M11 4a7 7 0 1 0 0 14a7 7 0 1 0 0-14M21 21l-4.5-4.5"],
  [/copy/, "M9 9h11v11H9zM5 15H4V4h11v1"],
  [/unplug/, "M4 20l4-4M16 8l4-4M7 11l6 6l-2 2a4 4 0 0 1-6-6zM11 7l2-2a4 4 0 0 1 6 6l-2 2z"],
  [/library/, "M5 4v16M10 4v16M15 4l4 16"],
  [/plus/, "M12 5v14M5 12h14"],
  [/^x$|cross|close/, "M6 6l12 12M18 6L6 18"],
  [/check/, "M5 12l5 5L20 7"],
  [/alert|warning|triangle/, "M12 4l9 16H3zM12 10v4M12 17v.5"],
  [/history|clock|timer/, "M12 4a8 8 0 1 0 0 16a8 8 0 1 0 0-16M12 8v4l3 2"],
  [/bookmark|star|save/, "M7 4h10v16l-5-4l-5 4z"],
  [
    /globe|web|earth/,
    "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M3 12h18M12 3c4 5 4 13 0 18c-4-5-4-13 0-18",
  ],
  [/youtube|video|play|film/, "M3 7h18v10H3zM10 10l5 2l-5 2z"],
  [/book|library|wiki/, "M7 3h12v18H7a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2M5 18a2 2 0 0 1 2-2h12"],
  [/message|reddit|quote|chat/, "M4 5h16v11H9l-5 4z"],
  [/twitter|^at-sign|hash|tag/, "M9 4L7 20M17 4l-2 16M4 9h16M4 15h16"],
  [
    /link|waypoints|network|git/,
    "M10 14l4-4M8 12l-2 2a3 3 0 0 0 4 4l2-2M16 12l2-2a3 3 0 0 0-4-4l-2 2",
  ],
  [/refresh|rotate|loader/, "M20 12a8 8 0 1 1-2.5-5.8M20 4v4h-4"],
  [/filter|sliders|settings/, "M4 6h16M7 12h10M10 18h4"],
  [/folder/, "M3 6h7l2 2h9v11H3z"],
  [/user|person|building/, "M12 4a4 4 0 1 0 0 8a4 4 0 1 0 0-8M4 20c1-5 15-5 16 0"],
  [/chevron-down|arrow-down/, "M6 9l6 6l6-6"],
  [/chevron-right|arrow-right/, "M9 6l6 6l-6 6"],
  [/more|dots/, "M5 12v.5M12 12v.5M19 12v.5"],
];
const PLAIN = "M6 3h9l4 4v14H6zM9 12h7M9 16h7";

/** Every name that was asked for, for tests that look for names of no icon. */
export const askedIcons = new Set<string>();

/** An icon as an SVG element. */
export function getIcon(id: string): SVGSVGElement | null {
  askedIcons.add(id);
  const name = id.replace(/^lucide-/, "");
  const shape = SHAPES.find(([pattern]) => pattern.test(name))?.[1] ?? PLAIN;
  const svg = createSvg("svg", {
    cls: `svg-icon lucide-${name}`,
    attr: {
      width: 24,
      height: 24,
      viewBox: "0 0 24 24",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 2,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    },
  });
  svg.createSvg("path", { attr: { d: shape } });
  return svg;
}

/** Put an icon into an element, in place of what was there. */
export function setIcon(parent: HTMLElement, iconId: string): void {
  parent.empty();
  const icon = getIcon(iconId);
  if (icon) parent.appendChild(icon);
}

/** Icons of plugins' own are taken, and drawn as a plain sheet. */
export function addIcon(iconId: string, svgContent: string): void {
  if (!svgContent) throw new Error(`the icon ${iconId} is empty`);
}
