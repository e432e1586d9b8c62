import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(import.meta.dirname, '../..');

/** Type errors of a module that would stand in the root of this repository, as `line: message`; nothing is written. */
export function typeErrors(code: string): string[] {
  const path = resolve(ROOT, 'documented-example.ts');
  const { config } = ts.readConfigFile(resolve(ROOT, 'tsconfig.json'), (file) => readFileSync(file, 'utf8')) as {
    config: unknown;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (file) => file === path || disk.fileExists(file),
    readFile: (file) => (file === path ? code : disk.readFile(file)),
    getSourceFile: (file, target, ...rest) =>
      file === path ? ts.createSourceFile(file, code, target) : disk.getSourceFile(file, target, ...rest),
  };
  const program = ts.createProgram([path], options, host);
  const own = program.getSourceFile(path);
  return ts.getPreEmitDiagnostics(program, own).map(({ file, start = 0, messageText }) => {
    const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    return `${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}

/** The module in JavaScript. */
export const withoutTypes = (code: string): string =>
  ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext, verbatimModuleSyntax: true },
  }).outputText;
