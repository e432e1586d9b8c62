import type { Random } from '../../../../../shared/base/random.ts';
import type { ChangeStream } from './change-stream.ts';
import type { Nanos } from './span.ts';
import type { TopologyChange } from './topology.ts';

/**
 * One change of topology by seed: a split, a merge, split and merge at once over moved boundaries, or a move. Undefined where
 * the keys allow none of the kind that was drawn.
 *
 * @param keys where partitions may meet, as latin1.
 */
export function changeTopology(
  stream: ChangeStream,
  random: Random,
  keys: readonly string[],
  now: Nanos,
): TopologyChange | undefined {
  const { partitions } = stream.topology;
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  const first = Math.floor(random() * partitions.length);
  const last = Math.min(partitions.length - 1, first + Math.floor(random() * 3));
  const span = { start: partitions[first]!.start, end: partitions[last]!.end };
  const inside = keys.filter((key) => key > span.start && (span.end === '' || key < span.end));
  switch (pick(['split', 'merge', 'rearrange', 'move'] as const)) {
    case 'split': {
      const free = keys.filter((key) => key !== '' && !partitions.some(({ start }) => start === key));
      const key = pick(free);
      return key === undefined ? undefined : stream.split([key], now);
    }
    case 'merge':
      return partitions.length > 1 ? stream.merge(pick(partitions.slice(1))!.start, now) : undefined;
    case 'rearrange':
      return stream.rearrange(
        span,
        inside.filter(() => random() < 2 / (inside.length + 1)),
        now,
      );
    case 'move':
    case undefined:
      return stream.move(span.start, now);
  }
}
