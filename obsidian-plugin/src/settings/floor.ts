/** What a minimum score leaves, in words; pure. */

/** One line for the scores of a search; a hit exactly at the minimum stays. */
export function floorLine(
  scores: readonly number[] | null,
  floor: number | null,
  words: string,
): string {
  if (scores === null) {
    const left = floor === null ? "No hit is" : `Hits below ${floor.toFixed(2)} are`;
    return `${left} left out. Type a few words to see what that means.`;
  }
  if (scores.length === 0) return `Nothing is found for “${words}”.`;
  const kept = scores.filter((score) => floor === null || score >= floor);
  const best = Math.max(...scores).toFixed(2);
  const least = Math.min(...scores).toFixed(2);
  const range = `Scores here go from ${least} to ${best}.`;
  const at = floor === null ? "" : `At ${floor.toFixed(2)}, `;
  const stay = kept.length === scores.length ? "all of" : `${kept.length} of`;
  return `${at}${stay} ${scores.length} hits for “${words}” stay. ${range}`;
}
