import { GrpcError } from '../../rpc/grpc.ts';

/** A path of field names, outermost first. */
export type FieldPath = readonly string[];

/** The pseudo field that is the document's name. */
export const NAME_FIELD = '__name__';

/** One name of a path: plain, or in backticks with \` and \\ for those two characters. */
const SEGMENT = /`(?:[^`\\]|\\.)*`|[^.`]+/y;

/** Takes a path such as a.b.`c-d` apart. @throws INVALID_ARGUMENT where it is none. */
export function parseFieldPath(text: string): FieldPath {
  const segments: string[] = [];
  let at = 0;
  for (;;) {
    SEGMENT.lastIndex = at;
    const segment = SEGMENT.exec(text)?.[0];
    if (segment === undefined) throw invalidPath(text);
    segments.push(segment.startsWith('`') ? segment.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : segment);
    at += segment.length;
    if (at === text.length) return segments;
    if (text[at] !== '.') throw invalidPath(text);
    at += 1;
  }
}

const invalidPath = (text: string): GrpcError =>
  new GrpcError(
    'INVALID_ARGUMENT',
    `field path "${text}": must be field names joined by dots, each plain or in backticks`,
  );
