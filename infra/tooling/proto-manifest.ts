import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** What `npm run proto` read and what it wrote, so that a test sees a changed input and a file edited by hand offline. */
export interface ProtoManifest {
  /** Digest of the .proto files that the generator copies from each folder, and of the generator itself. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Digest of every generated file. */
  readonly outputs: Readonly<Record<string, string>>;
}

const root = resolve(import.meta.dirname, '../..');
const INPUT_FOLDERS = [
  'node_modules/google-gax/build/protos/google',
  'node_modules/@google-cloud/bigtable-api/build/protos/google/bigtable',
  'node_modules/@google-cloud/pubsub-api/build/protos/google/pubsub',
  'node_modules/@google-cloud/firestore-api/build/protos/google/firestore/v1',
  'shared/proto/connector/v1',
];
const GENERATOR = 'infra/tooling/generate-proto.sh';
const TREE = 'shared/proto';

export const MANIFEST_PATH = `${TREE}/manifest.json`;

/** The manifest of the working tree as it stands. Reads files, and nothing else. */
export function protoManifest(): ProtoManifest {
  const inputs = INPUT_FOLDERS.map((folder): [string, string] => [folder, digest(filesBelow(folder, '.proto'))]);
  const outputs = filesBelow(TREE, '.ts').map((file): [string, string] => [file, digest([file])]);
  return {
    inputs: Object.fromEntries([...inputs, [GENERATOR, digest([GENERATOR])]]),
    outputs: Object.fromEntries(outputs),
  };
}

/** Paths from the root, sorted. */
const filesBelow = (folder: string, ending: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`)
    .toSorted();

/** SHA-256 over the files' names and contents. */
function digest(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

if (import.meta.main) writeFileSync(join(root, MANIFEST_PATH), `${JSON.stringify(protoManifest(), null, 2)}\n`);
