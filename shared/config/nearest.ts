/**
 * The known name closest to one that somebody wrote, for a "did you mean". Case and separators do not count, so
 * `max-in-flight-entries` finds `maxInFlightEntries`. Undefined where nothing is close enough to be meant. Pure.
 */
export function nearestName(written: string, known: readonly string[]): string | undefined {
  const bare = plain(written);
  let best: string | undefined;
  // Two letters swapped are a distance of two, which would make any two short names alike.
  const allowed = bare.length < 4 ? 1 : Math.max(2, Math.floor(bare.length / 3));
  let bestDistance = allowed + 1;
  for (const name of known) {
    const distance = editDistance(bare, plain(lastPart(name)));
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

const lastPart = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_\s]/g, '');

/** Insertions, deletions and substitutions that make one text the other. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [leftIndex, leftChar] of Array.from(left).entries()) {
    const next = [leftIndex + 1];
    for (const [rightIndex, rightChar] of Array.from(right).entries()) {
      const substituted = (row[rightIndex] ?? 0) + (leftChar === rightChar ? 0 : 1);
      next.push(Math.min(substituted, (row[rightIndex + 1] ?? 0) + 1, (next[rightIndex] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
