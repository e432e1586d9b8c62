import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** Folder → folders it may import from, besides itself. `import type` counts. First matching prefix wins. */
const foundations = ['shared/model', 'shared/base', 'shared/config', 'shared/mapping', 'shared/letters'];
const capability = [...foundations, 'shared/records', 'shared/markers', 'shared/forms', 'shared/proto'];
/** The words that the rooms of the bulk sink share. */
const bulkWords = ['answer', 'verdict', 'outcome', 'ports'].map((name) => `shared/bulk/${name}.ts`);
/** What every room of the staged sink stands on: its durable state, its messages of work, and its ports. */
const stagedFloor = ['state', 'segment-id', 'fingerprint', 'work-message', 'ports'].map(
  (name) => `shared/staged/${name}.ts`,
);
/** What a local server stands on, and the rooms or files of its own that one of its rooms may see; none of another server. */
const serverFloor = ['infra/local/base/', 'shared/model', 'shared/base', 'shared/proto'];
const serverRooms = (server: string, ...rooms: readonly string[]): string[] => [
  ...serverFloor,
  'infra/local/servers/rpc/',
  ...rooms.map((room) => `infra/local/servers/${server}/${room}`),
];
const bigtableRoot = ['database', 'faults', 'limits', 'profiles', 'streams'];
const firestoreRoot = ['api', 'limits', 'state'];
/** What runs knows of the declaration of a mapping: its resolved types and plain facts, none of which load a parser. */
const resolvedMapping = ['resolved', 'write-modes', 'modifiers'].map((name) => `shared/mapping/declared/${name}.ts`);
const mappingFloor = ['shared/base', 'shared/model'];
/** The words in which options are declared, read and held against each other. */
const configFloor = ['addresses', 'nearest', 'option', 'problems', 'quantity', 'read', 'rules', 'units'].map(
  (name) => `shared/config/${name}.ts`,
);
const RULES: readonly (readonly [string, readonly string[]])[] = [
  ['functions/bodies/', ['shared/base']],
  ['functions/', ['shared/']],
  ['shared/proto/', []],
  ['shared/base/', []],
  ['shared/model/', ['shared/base']],
  ['shared/mapping/values/', [...mappingFloor, ...resolvedMapping]],
  ['shared/mapping/codecs/', [...mappingFloor, 'shared/mapping/values/', 'shared/mapping/formats/json-text.ts']],
  ['shared/mapping/formats/', [...mappingFloor, 'shared/mapping/values/', ...resolvedMapping]],
  [
    'shared/mapping/declared/schema/',
    ['shared/mapping/codecs/', 'shared/mapping/values/', 'shared/mapping/declared/write-modes.ts'],
  ],
  [
    'shared/mapping/declared/',
    [...mappingFloor, 'shared/mapping/codecs/', 'shared/mapping/values/', 'shared/mapping/formats/'],
  ],
  [
    'shared/mapping/rows/',
    [
      ...mappingFloor,
      'shared/proto',
      'shared/mapping/context.ts',
      'shared/mapping/codecs/',
      'shared/mapping/values/',
      ...resolvedMapping,
    ],
  ],
  [
    'shared/mapping/modes/',
    [
      ...mappingFloor,
      'shared/mapping/context.ts',
      'shared/mapping/codecs/',
      'shared/mapping/values/',
      'shared/mapping/rows/',
      ...resolvedMapping,
    ],
  ],
  // The way back stands beside the modes: it knows what they read, and nothing of how they write.
  [
    'shared/mapping/backwards/',
    [
      ...mappingFloor,
      'shared/mapping/codecs/',
      'shared/mapping/values/',
      'shared/mapping/rows/',
      'shared/mapping/formats/json-text.ts',
      'shared/mapping/declared/problems.ts',
      ...resolvedMapping,
    ],
  ],
  ['shared/mapping/', ['shared/base', 'shared/model', 'shared/proto']],
  ...configFloor.map((file) => [file, ['shared/base', 'shared/model', ...configFloor]] as const),
  [
    'shared/config/options/',
    ['shared/base', 'shared/model', 'shared/forms/', 'shared/mapping/declared/resolved.ts', ...configFloor],
  ],
  [
    'shared/config/kinds/',
    [
      ...['shared/base', 'shared/model', 'shared/mapping/declared/', 'shared/mapping/backwards/problems.ts'],
      ...['shared/config/options/', ...configFloor],
    ],
  ],
  ['shared/config/', ['shared/base', 'shared/model', 'shared/forms/', 'shared/mapping/declared/']],
  ['shared/letters/', ['shared/base', 'shared/model', 'shared/config', 'shared/mapping']],
  // Written forms that requests and scans share.
  ['shared/forms/', ['shared/base', 'shared/model', 'shared/proto', 'shared/mapping/values/']],
  // What every sink does with a message before its capability begins.
  ['shared/records/', foundations],
  // What makes an effect count once, whichever sink it comes from.
  ['shared/markers/', [...foundations, 'shared/records', 'shared/proto']],
  // An adapter satisfies ports and knows nothing of what is behind them. Besides: the documents of the stage are the
  // store's to write, and an entry's wire form is that of its request.
  [
    'shared/google/',
    [
      ...['shared/model', 'shared/base', 'shared/proto'],
      ...[
        'bulk',
        'markers',
        'staged',
        'coordinator',
        'emission',
        'scan',
        'scan/runs',
        'slots',
        'change-stream',
        'change-stream/reading',
      ].map((room) => `shared/${room}/ports.ts`),
      ...['source', 'ledger/partition', 'ledger/ledger', 'ledger/writes'].map(
        (name) => `shared/change-stream/${name}.ts`,
      ),
      ...['shared/staged/state.ts', 'shared/staged/segment-id.ts', 'shared/mapping/rows/entry-wire.ts'],
      ...['shared/scan/runs/run.ts', 'shared/scan/runs/split.ts'],
      // Ranges and times on the wire are those of the messages that the reading takes apart.
      'shared/change-stream/reading/wire-rules.ts',
    ],
  ],
  // Whose turn it is and when: what is done in a turn belongs to the capability.
  ['shared/coordinator/', ['shared/model', 'shared/base']],
  // Messages on their way to a topic: their rows and forms are the source's. Publishing knows nothing of windows.
  ['shared/emission/messages/', ['shared/model', 'shared/base', 'shared/emission/ports.ts']],
  [
    'shared/emission/publishing/',
    [
      ...['shared/model', 'shared/base', 'shared/emission/messages/'],
      ...['ports', 'failure', 'outbound'].map((name) => `shared/emission/${name}.ts`),
    ],
  ],
  ['shared/emission/', ['shared/model', 'shared/base']],
  // A reader's lease, fence and positions: what a unit is belongs to the source.
  ['shared/slots/', ['shared/model', 'shared/base', 'shared/coordinator']],
  // Waiting knows nothing of sending, and neither of repair; the batcher above them puts them together.
  ['shared/bulk/waiting/', [...capability, ...bulkWords]],
  ['shared/bulk/sending/', [...capability, ...bulkWords, 'shared/bulk/waiting/']],
  ['shared/bulk/repair/', [...capability, ...bulkWords, 'shared/bulk/sending/', 'shared/bulk/waiting/']],
  ['shared/bulk/', capability],
  ['shared/staged/segment-id.ts', []],
  ['shared/staged/fingerprint.ts', ['shared/base']],
  ['shared/staged/work-message.ts', ['shared/staged/segment-id.ts']],
  ['shared/staged/state.ts', ['shared/model', 'shared/coordinator', 'shared/staged/fingerprint.ts']],
  ['shared/staged/ports.ts', ['shared/model', 'shared/coordinator', ...stagedFloor]],
  ['shared/staged/envelope/', capability],
  ['shared/staged/stage/', [...capability, ...stagedFloor, 'shared/staged/envelope']],
  ['shared/staged/checkpoint/', ['shared/model', 'shared/base', 'shared/coordinator', ...stagedFloor]],
  ['shared/staged/write/', [...capability, 'shared/staged/envelope']],
  ['shared/staged/commit/', [...capability, ...stagedFloor, 'shared/staged/envelope', 'shared/staged/write']],
  // The written forms know the wire and nothing of who asks; HTTP stands on all of it.
  ['shared/single-row/forms/', [...capability, 'shared/single-row/wire.ts']],
  ['shared/single-row/', capability],
  // Planning is arithmetic; reading knows the wire and nothing of runs, slots or messages.
  ['shared/scan/ports.ts', ['shared/model', 'shared/base']],
  ['shared/scan/plan/', ['shared/model', 'shared/base', 'shared/scan/ports.ts']],
  ['shared/scan/reading/', ['shared/model', 'shared/base', 'shared/proto', 'shared/scan/ports.ts']],
  // A run and its splits are values; what is read of a table is of no concern to them.
  ['shared/scan/runs/', ['shared/model', 'shared/base', 'shared/coordinator', 'shared/slots']],
  ['shared/scan/', [...capability, 'shared/coordinator', 'shared/slots', 'shared/emission']],
  // The service's side of a partition: its bytes, its retries. Of the ledger it knows what a position is.
  [
    'shared/change-stream/reading/',
    ['shared/model', 'shared/base', 'shared/proto', 'shared/change-stream/ledger/partition.ts'],
  ],
  // Arithmetic of ranges, tokens and rounds; how a slot's document is changed is the slots' word.
  ['shared/change-stream/ledger/', ['shared/model', 'shared/base', 'shared/slots']],
  [
    'shared/change-stream/coordination/',
    [
      ...['shared/model', 'shared/base', 'shared/coordinator', 'shared/slots'],
      ...['ledger/', 'source.ts', 'ports.ts', 'reading/ports.ts'].map((name) => `shared/change-stream/${name}`),
    ],
  ],
  // What is made of a change: messages, and nothing of how they leave.
  [
    'shared/change-stream/forms/',
    ['shared/model', 'shared/base', 'shared/emission/messages/', 'shared/change-stream/ledger/partition.ts'],
  ],
  ['shared/change-stream/', [...capability, 'shared/coordinator', 'shared/slots', 'shared/emission']],
  // The plan of a deployment reads a configuration, and nothing of what runs.
  ['shared/deployment/', ['shared/config', 'shared/model', 'shared/base']],
  // The servers stand for Google's services and know nothing of the connector; only the wiring reads its configuration.
  ['infra/local/servers/rpc/', serverFloor],
  ['infra/local/servers/bigtable/rows/', serverRooms('bigtable', 'limits')],
  ['infra/local/servers/bigtable/filters/', serverRooms('bigtable', 'rows/', 'limits')],
  // The stream is told of changes: it knows how rows are spelled, and no table, clock or call.
  [
    'infra/local/servers/bigtable/change-stream/',
    ['shared/model', 'shared/base', 'shared/proto', 'infra/local/servers/bigtable/rows/row.ts'],
  ],
  ['infra/local/servers/bigtable/admin/', serverRooms('bigtable', 'rows/', ...bigtableRoot)],
  [
    'infra/local/servers/bigtable/requests/',
    serverRooms('bigtable', 'rows/', 'filters/', 'change-stream/', ...bigtableRoot),
  ],
  ['infra/local/servers/bigtable/', serverRooms('bigtable')],
  ['infra/local/servers/pubsub/delivery/', serverRooms('pubsub', 'timing')],
  ['infra/local/servers/pubsub/push/', serverRooms('pubsub', 'delivery/', 'timing')],
  ['infra/local/servers/pubsub/resources/', serverRooms('pubsub', 'delivery/', 'push/', 'timing', 'faults')],
  ['infra/local/servers/pubsub/calls/', serverRooms('pubsub', 'resources/', 'delivery/', 'timing', 'faults')],
  ['infra/local/servers/pubsub/', serverRooms('pubsub')],
  ['infra/local/servers/firestore/documents/', serverRooms('firestore', 'limits')],
  ['infra/local/servers/firestore/query/', serverRooms('firestore', 'documents/')],
  ['infra/local/servers/firestore/writes/', serverRooms('firestore', 'documents/', 'query/', ...firestoreRoot)],
  [
    'infra/local/servers/firestore/reads/',
    serverRooms('firestore', 'documents/', 'query/', 'writes/', ...firestoreRoot),
  ],
  ['infra/local/servers/firestore/', serverRooms('firestore')],
  ['infra/local/base/', ['shared/model', 'shared/base']],
  // The demo holds a serializer as a user writes one.
  // What users write modules with.
  [
    'infra/local/demo/',
    ['infra/local/', 'shared/model', 'shared/base', 'shared/mapping', 'shared/scan/forms/module-form.ts'],
  ],
  // The cloud stands without a connector; a connector runs on it; demos run connectors.
  [
    'infra/local/cloud/',
    ['infra/local/base', 'infra/local/servers', 'shared/model', 'shared/base', 'shared/proto', 'shared/config'],
  ],
  [
    'infra/local/run/',
    [
      ...['infra/local/base', 'infra/local/servers', 'infra/local/cloud'],
      ...['shared/model', 'shared/base', 'shared/config', 'shared/deployment'],
    ],
  ],
  ['infra/', ['shared/', 'functions/']],
  ['test/', ['shared/', 'functions/', 'infra/']],
];

/** Vendor clients live behind the adapters alone; a type import would tie a core to a vendor just as well. */
const VENDORS = ['@google-cloud/', '@grpc/', 'google-auth-library'];
const MAY_IMPORT_VENDORS = ['shared/google/', 'infra/', 'test/'];
const VENDOR_EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // The functions register themselves with the framework; that is what makes them functions.
  'functions/index.ts': ['@google-cloud/functions-framework'],
};

interface Import {
  readonly from: string;
  readonly target: string;
  readonly isLocal: boolean;
}

const sources = ['functions', 'shared', 'infra', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`),
);

const imports: Import[] = sources.flatMap((from) => {
  const text = readFileSync(join(root, from), 'utf8');
  return ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) =>
      fileName.startsWith('.')
        ? { from, target: relative(root, resolve(root, dirname(from), fileName)), isLocal: true }
        : { from, target: fileName, isLocal: false },
    );
});

test('every import points the way the layout says, counting type imports', () => {
  const broken = imports
    .filter(({ isLocal }) => isLocal)
    .filter(({ from, target }) => {
      const rule = RULES.find(([prefix]) => from.startsWith(prefix));
      if (!rule) return true;
      const [own, allowed] = rule;
      return !target.startsWith(own) && !allowed.some((prefix) => target.startsWith(prefix));
    })
    .map(({ from, target }) => `${from} → ${target}`);
  expect(broken).toEqual([]);
});

test('only the adapters import a vendor client', () => {
  const broken = imports
    .filter(({ isLocal, target }) => !isLocal && VENDORS.some((vendor) => target.startsWith(vendor)))
    .filter(({ from }) => !MAY_IMPORT_VENDORS.some((prefix) => from.startsWith(prefix)))
    .filter(({ from, target }) => !(VENDOR_EXCEPTIONS[from] ?? []).includes(target))
    .map(({ from, target }) => `${from} → ${target}`);
  expect(broken).toEqual([]);
});

/** What others see of a configuration. None of it loads the parser before a document needs one. */
const CONFIG_DOORS = ['addresses', 'dead-letters', 'load', 'resolved'].map((name) => `shared/config/${name}.ts`);

test('a configuration is known outside its room by its resolved types, its addresses and its loader; only tools see declarations', () => {
  const broken = imports
    .filter(({ target }) => target.startsWith('shared/config/') && !CONFIG_DOORS.includes(target))
    .filter(({ from }) => !['shared/config/', 'infra/tooling/', 'test/'].some((prefix) => from.startsWith(prefix)))
    .map(({ from, target }) => `${from} → ${target}`);
  expect(broken).toEqual([]);
});

test('nothing outside test imports test', () => {
  const broken = imports.filter(({ from, target }) => !from.startsWith('test/') && target.startsWith('test/'));
  expect(broken).toEqual([]);
});

test('imports form no cycle, counting type imports', () => {
  const graph = new Map<string, string[]>();
  for (const { from, target, isLocal } of imports) {
    if (isLocal) graph.set(from, [...(graph.get(from) ?? []), target]);
  }
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    path.push(file);
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next);
      if (cycle) return cycle;
    }
    path.pop();
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) expect(visit(file)?.join(' → ')).toBeUndefined();
});

test('a pure file of a capability reads no clock, timer, randomness, log or environment', () => {
  const IMPURE =
    /\b(Date\.now|new Date\(\)|setTimeout|setImmediate|Math\.random|performance\.now|process\.|console\.)|from 'node:(fs|net|http|child_process|timers)/;
  const rooms = [
    'bulk',
    'staged',
    'single-row',
    'scan',
    'change-stream',
    'coordinator',
    'emission',
    'slots',
    'letters',
    'markers',
    'records',
    'mapping',
    'config',
    'deployment',
  ];
  const offenders = sources
    .filter((file) => rooms.some((room) => file.startsWith(`shared/${room}/`)))
    .filter((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const isShell = /from '(\.\.?\/)+ports\.ts'/.test(text);
      return !isShell && IMPURE.test(text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''));
    });
  expect(offenders).toEqual([]);
});

test('the top level holds exactly the entries that the layout names', () => {
  const LEFT_OUT = new Set(['node_modules', 'dist', 'package-lock.json']);
  const entries = readdirSync(root).filter((name) => !name.startsWith('.') && !LEFT_OUT.has(name));
  expect(entries.toSorted()).toEqual(
    [
      'LICENSE',
      'README.md',
      'cloudbuild.yaml',
      'functions',
      'infra',
      'package.json',
      'shared',
      'test',
      'tsconfig.json',
    ].toSorted(),
  );
});
