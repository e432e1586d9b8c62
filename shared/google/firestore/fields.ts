import type { DocumentSnapshot, Timestamp as VendorTimestamp } from '@google-cloud/firestore';
import { type Version, StoreError } from '../../model/store.ts';
import type { FirestoreClient } from './client.ts';

/** Documents as the client gives them, read strictly: what this connector did not write is an error that names the field. */

export type Fields = Readonly<Record<string, unknown>>;

export function versionOf(snapshot: DocumentSnapshot): Version {
  if (snapshot.updateTime === undefined) throw malformed(snapshot, 'its update time', 'there');
  return versionAt(snapshot.updateTime);
}

export const versionAt = ({ seconds, nanoseconds }: VendorTimestamp): Version => `${seconds}.${nanoseconds}`;

/** The precondition "still what it was when it was read". */
export function unchangedSince(
  { Timestamp }: FirestoreClient,
  version: Version,
): { readonly lastUpdateTime: VendorTimestamp } {
  const [seconds, nanoseconds] = version.split('.').map(Number);
  return { lastUpdateTime: new Timestamp(seconds ?? 0, nanoseconds ?? 0) };
}

export const fieldsOf = (snapshot: DocumentSnapshot): Fields => snapshot.data() ?? {};

export function mapIn(snapshot: DocumentSnapshot, fields: Fields, name: string): Fields {
  const value = fields[name];
  if (typeof value !== 'object' || value === null) throw malformed(snapshot, name, 'a map');
  return value as Fields;
}

/** A map of texts. */
export function textsIn(snapshot: DocumentSnapshot, map: Fields): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(map).map((name) => [name, textIn(snapshot, map, name)]));
}

/** A list of maps; none where the field is not there. */
export function listIn(snapshot: DocumentSnapshot, fields: Fields, name: string): readonly Fields[] {
  const value = fields[name] ?? [];
  if (!Array.isArray(value)) throw malformed(snapshot, name, 'a list');
  return value as readonly Fields[];
}

export const numbersOf =
  (snapshot: DocumentSnapshot) =>
  (fields: Fields, name: string): number => {
    const value = fields[name];
    if (typeof value !== 'number') throw malformed(snapshot, name, 'a number');
    return value;
  };

export function textIn(snapshot: DocumentSnapshot, fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw malformed(snapshot, name, 'a text');
  return value;
}

export const malformed = (snapshot: DocumentSnapshot, field: string, rule: string): StoreError =>
  new StoreError(
    `read ${snapshot.ref.path}`,
    'DATA_LOSS',
    `${field} must be ${rule}: nothing of this connector wrote that`,
  );
