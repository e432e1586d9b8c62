import type { Random } from '../../../../../shared/base/random.ts';
import { STATUSES, type Status, type StatusName } from '../../../../../shared/model/status.ts';
import type { Nanos, Span } from './span.ts';

/** What can go wrong with a read of a stream, beyond a change of topology. */
export type Trouble =
  /** It ends: with this status or, without one, with OK and no close. */
  | { readonly kind: 'end'; readonly status?: Status }
  /** Nothing comes, not even a heartbeat: for so long or, without a duration, until the read is given up. */
  | { readonly kind: 'silence'; readonly duration?: Nanos }
  /** A close with OK and no successors, as if the end time had been reached. */
  | { readonly kind: 'close-without-successors' }
  /** It ends inside the next change: the change comes in several messages, of which at least the last is missing. */
  | { readonly kind: 'cut'; readonly status?: Status }
  /** The next close of a change of topology is not delivered: the stream ends in its place. */
  | { readonly kind: 'lose-close'; readonly status?: Status };

export interface TroubleRule {
  readonly trouble: Trouble;
  /** Which reads it is for, by their partition. Default: every read. */
  readonly where?: (span: Span) => boolean;
  /** How many responses the read has given before. Default 0: it may happen before the first. */
  readonly afterResponses?: number;
  /** How often it happens. Default 1. */
  readonly times?: number;
}

/** The rules in force, the oldest first. */
export class Troubles {
  #rules: { readonly rule: TroubleRule; left: number }[] = [];

  add(rule: TroubleRule): void {
    this.#rules.push({ rule, left: rule.times ?? 1 });
  }

  clear(): void {
    this.#rules = [];
  }

  /** Rules that have not happened as often as they may. */
  get size(): number {
    return this.#rules.length;
  }

  /** What goes wrong now with a read of this partition, which uses up one of its rule's times. */
  take<Kind extends Trouble['kind']>(
    kinds: readonly Kind[],
    span: Span,
    responses: number,
  ): Extract<Trouble, { kind: Kind }> | undefined {
    if (this.#rules.length === 0) return undefined;
    const found = this.#rules.find(
      ({ rule }) =>
        (kinds as readonly string[]).includes(rule.trouble.kind) &&
        responses >= (rule.afterResponses ?? 0) &&
        (rule.where?.(span) ?? true),
    );
    if (!found) return undefined;
    found.left -= 1;
    if (found.left <= 0) this.#rules = this.#rules.filter((each) => each !== found);
    return found.rule.trouble as Extract<Trouble, { kind: Kind }>;
  }
}

const STATUS_NAMES = Object.keys(STATUSES) as StatusName[];

/** A rule by seed: any of the troubles, with any status or OK, at one of the next points of whichever read comes to it first. */
export function seededTrouble(random: Random): TroubleRule {
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item =>
    items[Math.floor(random() * items.length)] ?? items[0];
  const kind = pick(['end', 'silence', 'close-without-successors', 'cut', 'lose-close'] as const);
  const code = STATUS_NAMES[Math.floor(random() * STATUS_NAMES.length)] ?? 'OK';
  const afterResponses = Math.floor(random() * 5);
  switch (kind) {
    case 'silence':
      return { trouble: { kind, duration: BigInt(Math.floor(random() * 120)) * 1_000_000_000n }, afterResponses };
    case 'close-without-successors':
      return { trouble: { kind }, afterResponses };
    case 'end':
    case 'cut':
    case 'lose-close':
      return { trouble: { kind, status: { code, message: 'by seed' } }, afterResponses };
  }
}
