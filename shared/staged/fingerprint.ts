import { createHash } from 'node:crypto';
import { RedeliverError } from '../base/errors.ts';

/**
 * What the identities and markers of a pipeline hang on. While anything of it is unacknowledged or uncommitted none of
 * this may change: a message that comes once under each of two values counts twice. The pipeline's document keeps the
 * values that hold, and only a coordinator writes them. Pure.
 */
export type Fingerprint = Readonly<Record<string, string>>;

export interface IdentityOptions {
  readonly markerFamily: string;
  /** Attribute by which the publisher identifies a message. */
  readonly idAttribute?: string;
  /** With an attribute it is part of an identity, and without one it is not. */
  readonly framing: string;
  /** The other way round. */
  readonly subscription: string;
}

export const fingerprintOf = ({ markerFamily, idAttribute, framing, subscription }: IdentityOptions): Fingerprint =>
  idAttribute === undefined ? { markerFamily, subscription } : { markerFamily, idAttribute, framing };

/** By which an operator confirms these values: `confirmChange`. */
export const codeOf = (fingerprint: Fingerprint): string =>
  createHash('sha256')
    .update(JSON.stringify(inOrder(fingerprint)))
    .digest('hex')
    .slice(0, 12);

export const isSame = (one: Fingerprint, other: Fingerprint): boolean =>
  JSON.stringify(inOrder(one)) === JSON.stringify(inOrder(other));

/** What this instance goes by, and what its operator has confirmed. */
export interface OwnFingerprint {
  readonly own: Fingerprint;
  /** The code of values that may take the place of others. */
  readonly confirmed?: string;
}

/**
 * What the document is to hold after a coordinator's tick: what it holds, or ours where it holds nothing or the change is
 * confirmed. Throws a {@link RedeliverError} where it is not.
 */
export function takenOver(stored: Fingerprint | undefined, { own, confirmed }: OwnFingerprint): Fingerprint {
  if (!stored || isSame(stored, own) || confirmed === codeOf(own)) return own;
  throw changed(stored, own);
}

/** Throws a {@link RedeliverError} where an instance goes by other values than those that hold. */
export function mustHold(stored: Fingerprint | undefined, { own, confirmed }: OwnFingerprint): void {
  if (!stored || isSame(stored, own)) return;
  if (confirmed === codeOf(own)) {
    throw new RedeliverError(
      'changed',
      `${difference(stored, own)}; that is confirmed, and holds once coordinate has run with it`,
    );
  }
  throw changed(stored, own);
}

const changed = (stored: Fingerprint, own: Fingerprint): RedeliverError =>
  new RedeliverError(
    'changed',
    `${difference(stored, own)}. What is unacknowledged or uncommitted would count twice: go back, or drain the pipeline (publishers stopped, nothing unacknowledged, connector status shows nothing that is not in its rows) and set confirmChange: ${codeOf(own)}`,
  );

function difference(stored: Fingerprint, own: Fingerprint): string {
  const names = [...new Set([...Object.keys(stored), ...Object.keys(own)])].filter(
    (name) => stored[name] !== own[name],
  );
  const said = (value: string | undefined): string => (value === undefined ? 'nothing' : JSON.stringify(value));
  const changes = names.map((name) => `${name} from ${said(stored[name])} to ${said(own[name])}`);
  return `the identities of this pipeline have changed: ${changes.join(', ')}`;
}

const inOrder = (fingerprint: Fingerprint): readonly (readonly [string, string])[] =>
  Object.entries(fingerprint).toSorted(([left], [right]) => (left < right ? -1 : 1));
