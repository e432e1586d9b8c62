import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Argument, Command } from 'commander';
import { tellsUsage } from '../../local/base/program.ts';
import { GENERATED_FILES } from './generated-files.ts';

/** `write.ts schema|docs`: writes the generated files of one script. */
const program = tellsUsage(
  new Command('write.ts')
    .description('Writes the files that are made of the sources: npm run schema, npm run docs.')
    .addArgument(new Argument('<script>', 'the files to write').choices(['schema', 'docs'])),
).parse();

const root = resolve(import.meta.dirname, '../../..');
for (const { path, content } of GENERATED_FILES.filter(({ script }) => script === program.args[0])) {
  await writeFile(resolve(root, path), await content());
  console.log(path);
}
