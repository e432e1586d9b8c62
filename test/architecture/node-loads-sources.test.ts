import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { expect, test } from 'vitest';
import type { LoadOrder } from './load-sources-program.ts';

/**
 * The test runner and the bundler forgive imports that Node refuses: a name of a CommonJS module that Node does not
 * see, for one. The functions run from these sources on a developer's machine, and the command line always does.
 */

const root = resolve(import.meta.dirname, '../..');

/** Files that act when they are imported, and how. Node links them and does not run them. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'functions/cli/main.ts': 'runs the verb of its arguments',
  'infra/local/base/end-with-parent.ts': 'ends its process after its parent',
  'infra/local/base/faster-clock.ts': "replaces its process's clock",
  'infra/local/cloud/embedded-program.ts': 'starts servers',
  'infra/local/demo/main.ts': 'runs a demo',
  'infra/local/run/function-host-program.ts': 'starts a server',
  'infra/local/run/local.ts': 'runs the local cloud',
  'infra/tooling/build.ts': 'writes a bundle',
  'infra/tooling/reference/write.ts': 'writes pages',
};

const sources = ['functions', 'shared', 'infra'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);

const urlOf = (file: string): string => pathToFileURL(join(root, file)).href;

test('plain Node imports every source file, links every program, and finds every name of a package that is imported lazily', async () => {
  const order: LoadOrder = {
    modules: sources.filter((file) => !(file in PROGRAMS)).map(urlOf),
    programs: Object.keys(PROGRAMS).map(urlOf),
    lazyNames: lazyNames(),
  };
  const program = join(import.meta.dirname, 'load-sources-program.ts');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, JSON.stringify(order)], {
    cwd: root,
    env: { METADATA_SERVER_DETECTION: 'none' },
    timeout: 60_000,
  });
  expect({ refused: stdout.split('\n').filter((line) => line !== ''), stderr }).toEqual({ refused: [], stderr: '' });
}, 90_000);

test('every program that is linked only is there, and every file that ends in -program is one', () => {
  expect(Object.keys(PROGRAMS).filter((file) => !sources.includes(file))).toEqual([]);
  expect(sources.filter((file) => file.endsWith('-program.ts') && !(file in PROGRAMS))).toEqual([]);
});

/** Package → the names that sources take out of `await import('package')`. */
function lazyNames(): Record<string, string[]> {
  const names: Record<string, string[]> = {};
  for (const file of sources) {
    const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      const name = importedPackage(node);
      if (name !== undefined) (names[name] ??= []).push(...namesTaken(node, file));
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return names;
}

function importedPackage(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) return undefined;
  const [name] = node.arguments;
  return name && ts.isStringLiteral(name) && !name.text.startsWith('.') ? name.text : undefined;
}

/** Only the form whose names can be read off is allowed: `const { a, b } = await import('package')`. */
function namesTaken(call: ts.Node, file: string): string[] {
  const declaration = call.parent.parent;
  if (!ts.isVariableDeclaration(declaration) || !ts.isObjectBindingPattern(declaration.name)) {
    throw new TypeError(`${file}: write const { name } = await import('package'), so that its names can be checked`);
  }
  return declaration.name.elements.map(({ propertyName, name }) => (propertyName ?? name).getText());
}
