import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { documentedNames } from '../support/markdown-table.ts';

/**
 * Independent of the generator: the names in the checked-in page against those in the checked-in JSON Schema, both ways.
 */
const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(resolve(root, 'shared/docs/options.md'), 'utf8');
const schema: unknown = JSON.parse(readFileSync(resolve(root, 'shared/config/connector.schema.json'), 'utf8'));

type Schema = Readonly<Record<string, unknown>>;

const section = (value: unknown): Schema => (typeof value === 'object' && value !== null ? (value as Schema) : {});

/** What stands at a path of the schema; an empty section where nothing does. */
const at = (value: unknown, ...path: string[]): Schema =>
  path.reduce((inner, key) => section(inner[key]), section(value));

/** What a reference stands for; anything else is itself. The filters of a scan have a page of their own, and hold each other. */
const target = (value: unknown): Schema => {
  const { $ref } = section(value);
  if ($ref === '#/$defs/scanFilter') return {};
  return typeof $ref === 'string' ? at(schema, ...$ref.split('/').slice(1)) : section(value);
};

function optionNames(schemaOfSection: unknown, prefix = ''): string[] {
  return Object.entries(at(schemaOfSection, 'properties')).flatMap(([name, value]) => {
    const option = target(value);
    const branches = [option, ...Object.values(at(option, 'anyOf'))];
    return [
      `${prefix}${name}`,
      ...branches.flatMap((branch) => optionNames(branch, `${prefix}${name}.`)),
      ...optionNames(option.additionalProperties, `${prefix}${name}.<name>.`),
    ];
  });
}

const kinds = Object.values(at(schema, 'properties', 'pipelines', 'additionalProperties', 'anyOf'));
const nameOf = (kind: unknown): string => String(at(kind, 'properties', 'kind').const);
/** A mapping's options have a page of their own, which the last test holds to the schema. */
const declaredBy = (kind: unknown): string[] => optionNames(kind).filter((name) => !name.startsWith('mapping.'));

/** The parts of the page: the kinds that a heading names, and the options below it. */
const parts = page
  .split(/^## /m)
  .slice(1)
  .map((text) => {
    const [heading = ''] = text.split('\n');
    const named = [...heading.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    const isOfAll = heading === 'Options of every pipeline';
    return { kinds: isOfAll ? kinds.map(nameOf) : named, names: documentedNames(text) };
  });

test.each(kinds.map((kind) => [nameOf(kind), kind]))(
  'every option that a %s declares is documented for it once, and every option documented for it is declared',
  (name, kind) => {
    const documented = parts.filter(({ kinds: named }) => named.includes(name)).flatMap(({ names }) => names);
    expect(documented.length).toBeGreaterThan(30);
    expect(documented.toSorted()).toEqual(declaredBy(kind).toSorted());
  },
);

test('what kinds have in common is documented once, in a part that names them all: no row of the page stands there twice', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const words = rows.map((row) => row.replaceAll(/ +/g, ' '));
  expect(words.filter((row, index) => words.indexOf(row) < index)).toEqual([]);
  expect(parts.flatMap(({ names }) => names).length).toBeLessThan(kinds.flatMap(declaredBy).length);
});

test('every part of the page names a kind', () => {
  expect(parts.filter(({ kinds: named }) => named.length === 0)).toEqual([]);
});

test('exactly the options that defaults may hold are marked so', () => {
  const shared = new Set(optionNames(at(schema, 'properties', 'defaults')));
  const marked = page
    .split('\n')
    .filter((line) => line.split(' | ')[4]?.trim() === 'yes')
    .flatMap(documentedNames);
  // Several kinds may share an option.
  expect([...new Set(marked)].toSorted()).toEqual([...shared].toSorted());
});

test('every option has a sentence in the JSON Schema', () => {
  const undescribed = kinds.flatMap((kind) =>
    Object.entries(at(kind, 'properties'))
      .filter(([, option]) => typeof section(option).description !== 'string')
      .map(([name]) => name),
  );
  expect(undescribed).toEqual([]);
});

/** Paths of a mapping's options as its page writes them: `[]` for the elements of a list, `<name>` for values of a map. */
function mappingPaths(value: unknown, path: string): string[] {
  const schemaHere = section(value);
  const own = Object.entries(at(schemaHere, 'properties')).flatMap(([name, option]) => [
    `${path}.${name}`,
    ...mappingPaths(option, `${path}.${name}`),
  ]);
  const branches = Object.values(at(schemaHere, 'anyOf')).flatMap((branch) => mappingPaths(branch, path));
  const elements = schemaHere.items === undefined ? [] : mappingPaths(schemaHere.items, `${path}[]`);
  const { additionalProperties } = schemaHere;
  const isMap = typeof additionalProperties === 'object' && schemaHere.properties === undefined;
  const values = isMap ? mappingPaths(additionalProperties, `${path}.<name>`) : [];
  return [...own, ...branches, ...elements, ...values];
}

test('every option of a mapping is on its page, and nothing else is', () => {
  const mapping = readFileSync(resolve(root, 'shared/docs/mapping.md'), 'utf8');
  const onPage = mapping.split(/^## /m).flatMap((part) => {
    const heading = /^`([^`]+)`/.exec(part)?.[1];
    return heading === undefined ? [] : documentedNames(part).map((name) => `${heading}.${name}`);
  });
  const declaredPaths = kinds.flatMap((kind) => mappingPaths(at(kind, 'properties', 'mapping'), 'mapping'));
  expect(declaredPaths.length).toBeGreaterThan(80);
  expect([...new Set(onPage)].toSorted()).toEqual([...new Set(declaredPaths)].toSorted());
});
