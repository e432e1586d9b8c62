import { basename, join } from 'node:path';
import { build } from 'esbuild';

/** Bundles one program of ours into `folder`, as what is deployed is bundled; returns the path of the bundle. */
export async function bundleProgram(program: string, folder: string): Promise<string> {
  const outfile = join(folder, `${basename(program, '.ts')}.mjs`);
  await build({
    entryPoints: [program],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    logLevel: 'silent',
    banner: {
      js: "import { createRequire as bundleRequire } from 'node:module';\nconst require = bundleRequire(import.meta.url);",
    },
  });
  return outfile;
}
