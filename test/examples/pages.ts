import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** Every page of the repository that a person reads, by its path from the root. */
export const PAGES: readonly string[] = [
  'README.md',
  ...['functions', 'shared', 'infra', 'test'].flatMap((folder) =>
    readdirSync(resolve(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md') && !path.includes('node_modules'))
      .map((path) => `${folder}/${path}`),
  ),
].toSorted();

export const pageText = (page: string): string => readFileSync(resolve(ROOT, page), 'utf8');

/** The text without fenced blocks and inline code: its prose alone. */
export const proseOf = (markdown: string): string =>
  markdown.replaceAll(/^```.*?^```$/gms, '').replaceAll(/`[^`\n]*`/g, '``');

/** The anchors of a page's headings, as GitHub makes them. */
export const anchorsOf = (markdown: string): string[] =>
  Array.from(markdown.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
