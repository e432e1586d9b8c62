import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { GENERATED_FILES } from './generated-files.ts';

/** `write.ts schema|docs`: writes the generated files of one script. */
const root = resolve(import.meta.dirname, '../../..');
const files = GENERATED_FILES.filter(({ script }) => script === process.argv[2]);
if (files.length === 0) throw new Error('name what to write: schema or docs');

for (const { path, content } of files) {
  await writeFile(resolve(root, path), await content());
  console.log(path);
}
