import { intersection, isSameSpan, type Nanos, type Span } from './span.ts';

/** From where on the records of some keys of a partition are still to be read. */
interface Piece {
  /** The piece starts where the one before ends, and ends here; an empty end is that of the table. */
  readonly end: string;
  readonly sequence: number;
}

/** A place in the stream of one partition: all that a token says. */
export interface Position {
  readonly span: Span;
  /** They tile the span. More than one only until a partition made of several has caught up with the latest of them. */
  readonly pieces: readonly Piece[];
  /** Changes of topology from this one on are still to be told. */
  readonly change: number;
  /** Records that were committed earlier are left out: the start time of the first read. */
  readonly since: Nanos;
  /** When the stream was as far as this: its age counts from here. */
  readonly at: Nanos;
}

/** A token as the API has it: a text, and the partition that it claims to be of. */
export interface OfferedToken {
  readonly span: Span;
  readonly text: string;
}

/** @param stream who issued it: another table's or cluster's token is refused. */
export function encodeToken(stream: string, { span, pieces, change, since, at }: Position): string {
  const flat = pieces.flatMap(({ end, sequence }) => [end, sequence]);
  return Buffer.from(JSON.stringify([stream, span.start, flat, change, `${since}`, `${at}`])).toString('base64url');
}

/** Undefined for a text that this stream did not issue for this partition. */
export function decodeToken(stream: string, { span, text }: OfferedToken): Position | undefined {
  const position = parse(stream, text);
  return position && isSameSpan(position.span, span) ? position : undefined;
}

function parse(stream: string, text: string): Position | undefined {
  try {
    const [issuer, start, flat, change, since, at] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [
      ...[string, string, (string | number)[], number, string, string],
    ];
    if (issuer !== stream) return undefined;
    const pieces: Piece[] = [];
    for (let i = 0; i < flat.length; i += 2) pieces.push({ end: String(flat[i]), sequence: Number(flat[i + 1]) });
    const end = pieces.at(-1)?.end ?? '';
    return { span: { start, end }, pieces, change, since: BigInt(since), at: BigInt(at) };
  } catch {
    return undefined;
  }
}

/** The position of a partition that goes on where several left off; undefined where they do not tile it exactly. */
export function joinPositions(span: Span, positions: readonly Position[]): Position | undefined {
  const sorted = positions.toSorted((left, right) => (left.span.start < right.span.start ? -1 : 1));
  const [first] = sorted;
  if (first?.span.start !== span.start) return undefined;
  let joined: Position = first;
  for (const next of sorted.slice(1)) {
    if (joined.span.end === '' || next.span.start !== joined.span.end) return undefined;
    joined = {
      span: { start: span.start, end: next.span.end },
      pieces: coalesce([...joined.pieces, ...next.pieces]),
      change: Math.max(joined.change, next.change),
      since: joined.since < next.since ? joined.since : next.since,
      at: joined.at < next.at ? joined.at : next.at,
    };
  }
  return joined.span.end === span.end ? joined : undefined;
}

/** The same when the log was read up to here. */
export function advanced(position: Position, sequence: number): Position {
  const { pieces } = position;
  return pieces.every((piece) => piece.sequence >= sequence)
    ? position
    : {
        ...position,
        pieces: coalesce(pieces.map((piece) => (piece.sequence < sequence ? { ...piece, sequence } : piece))),
      };
}

/** The part of a position that is about these keys. */
export function clipped(position: Position, span: Span): Position {
  const pieces: Piece[] = [];
  let { start } = position.span;
  for (const { end, sequence } of position.pieces) {
    const part = intersection({ start, end }, span);
    if (part) pieces.push({ end: part.end, sequence });
    start = end;
  }
  return { ...position, span, pieces };
}

/** The sequence from which on records of this key are to be read. */
export function sequenceOf({ pieces }: Position, key: string): number {
  const [only] = pieces;
  if (only && pieces.length === 1) return only.sequence;
  return pieces.find(({ end }) => end === '' || key < end)?.sequence ?? Infinity;
}

/** Neighbours that are equally far are one. */
function coalesce(pieces: readonly Piece[]): Piece[] {
  const merged: Piece[] = [];
  for (const piece of pieces) {
    if (merged.at(-1)?.sequence === piece.sequence) merged.pop();
    merged.push(piece);
  }
  return merged;
}
