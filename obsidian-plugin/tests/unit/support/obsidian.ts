/** What tests without a screen need of Obsidian. */

export const Platform = { isDesktop: true, isDesktopApp: true, isWin: false };

export function requireApiVersion(): boolean {
  return true;
}
