import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

const NAMESPACE = 'lazy-commonjs';
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/**
 * Gives `await import('package')` of a CommonJS package the names that Node gives it. esbuild alone makes a chunk of it
 * whose one export is `default`, so that `const { PubSub } = await import('@google-cloud/pubsub')` would be undefined
 * in the bundle, and only there. The names are asked of Node itself, which loads the package for that.
 */
export const lazyCommonJs: Plugin = {
  name: NAMESPACE,
  setup(build) {
    build.onResolve({ filter: /./ }, async ({ path, kind, importer, resolveDir, namespace, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === NAMESPACE) return undefined;
      const found = await build.resolve(path, { kind, importer, resolveDir, namespace, pluginData: NAMESPACE });
      const isLazyCommonJs = found.errors.length === 0 && !found.external && (await isCommonJs(found.path));
      return isLazyCommonJs ? { path: found.path, namespace: NAMESPACE } : found;
    });
    build.onLoad({ filter: /./, namespace: NAMESPACE }, async ({ path }) => {
      const names = Object.keys((await import(pathToFileURL(path).href)) as object);
      const named = names.filter((name) => IDENTIFIER.test(name) && name !== 'default');
      return {
        contents: `const exported = require(${JSON.stringify(path)});
export default exported;
${named.map((name, index) => `const name${index} = exported.${name};\nexport { name${index} as ${name} };`).join('\n')}`,
        resolveDir: '/',
      };
    });
  },
};

async function isCommonJs(path: string): Promise<boolean> {
  if (extname(path) === '.cjs') return true;
  if (extname(path) !== '.js') return false;
  const manifest = findPackageJSON(pathToFileURL(path));
  if (manifest === undefined) return true;
  return (JSON.parse(await readFile(manifest, 'utf8')) as { type?: unknown }).type !== 'module';
}
