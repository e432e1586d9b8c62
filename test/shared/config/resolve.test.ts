import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { resolveConfig } from '../../../shared/config/resolve.ts';
import { MINIMAL, documentOf, linesOf, problemsOf, resolvedSink, withOption, type Options } from './documents.ts';

const without = (options: Options, ...keys: string[]): Options =>
  Object.fromEntries(Object.entries(options).filter(([key]) => !keys.includes(key)));

describe('a resolved document', () => {
  test('survives JSON unchanged', () => {
    const { config } = resolveConfig(documentOf({ ...MINIMAL, subscription: 'sub' }), 'test');
    expect(JSON.parse(JSON.stringify(config))).toEqual(config);
    expect(config.resolved).toBe(2);
  });

  test('has types that need no parser', () => {
    const source = readFileSync(new URL('../../../shared/config/resolved.ts', import.meta.url), 'utf8');
    expect(source).not.toMatch(/^import (?!type)/m);
  });

  test('leaves the given document as it was', () => {
    const document = documentOf({ ...MINIMAL, writerOptions: { linger: '5ms' } }, { writerOptions: { linger: '6ms' } });
    const before = structuredClone(document);
    resolveConfig(document, 'test');
    expect(document).toEqual(before);
  });

  test('keeps the order of the pipelines', () => {
    const { config } = resolveConfig({ pipelines: { b: MINIMAL, a: MINIMAL } }, 'test');
    expect(Object.keys(config.pipelines)).toEqual(['b', 'a']);
  });
});

describe('topic and subscription', () => {
  test('a bare id belongs to the project, and the subscription is named by topic and pipeline', () => {
    expect(resolvedSink(MINIMAL).input).toEqual({
      topic: 'projects/p/topics/orders',
      subscription: 'projects/p/subscriptions/orders-orders',
      ordering: 'none',
      framing: 'single',
      ackDeadlineMillis: 600_000,
      deadlineMarginMillis: 5_000,
    });
  });

  test('a full name stays, and the default subscription belongs to the project of the pipeline', () => {
    const { input } = resolvedSink({ ...MINIMAL, topic: 'projects/other/topics/events' });
    expect(input.topic).toBe('projects/other/topics/events');
    expect(input.subscription).toBe('projects/p/subscriptions/events-orders');
  });

  test('without a project bare ids stay bare', () => {
    const options = { ...without(MINIMAL, 'project', 'instance', 'table'), destinationAttribute: 'table' };
    expect(resolvedSink(options).input).toMatchObject({ topic: 'orders', subscription: 'orders-orders' });
  });

  test.each(['ab', '1orders', 'google-orders', 'or ders', 'projects/p/topics/', 'projects//topics/orders', 'a/b', 7])(
    'a topic that Pub/Sub would refuse is refused: %s',
    (topic) => {
      expect(linesOf({ ...MINIMAL, topic })).toEqual([expect.stringMatching(/^topic: must be an id of 3 to 255 /)]);
    },
  );

  test.each(['projects/p/topics/orders', 'ab'])('so is such a subscription: %s', (subscription) => {
    expect(linesOf({ ...MINIMAL, subscription })).toEqual([expect.stringMatching(/^subscription: must be an id of 3/)]);
  });

  test('a default subscription that is too long must be written', () => {
    const topic = `t${'x'.repeat(250)}`;
    expect(linesOf({ ...MINIMAL, topic })).toEqual([
      'subscription: is required because the default, topic id and pipeline name, is longer than 255 characters, got nothing',
    ]);
    expect(resolvedSink({ ...MINIMAL, topic, subscription: 'short' }).input.subscription).toMatch(/short$/);
  });
});

describe('destination', () => {
  test('a bare table belongs to project and instance', () => {
    expect(resolvedSink(MINIMAL).destination).toEqual({
      table: { project: 'p', instance: 'i', table: 't' },
      home: { project: 'p', instance: 'i' },
    });
  });

  test('a whole address needs neither', () => {
    const table = { project: 'example.com:p', instance: 'j', table: 'u' };
    const options = { ...without(MINIMAL, 'project', 'instance'), table };
    expect(resolvedSink(options).destination).toEqual({ table });
  });

  test('an attribute may stand in for the table or beside it', () => {
    const attribute = { destinationAttribute: 'bigtable-table' };
    expect(resolvedSink({ ...MINIMAL, ...attribute }).destination).toMatchObject({
      attribute: 'bigtable-table',
      table: { table: 't' },
    });
    expect(resolvedSink({ ...without(MINIMAL, 'table'), ...attribute }).destination).toEqual({
      attribute: 'bigtable-table',
      home: { project: 'p', instance: 'i' },
    });
  });

  test('a module may route, so it needs no table', () => {
    const options = { ...without(MINIMAL, 'table'), serializer: { module: './s.ts' } };
    expect(resolvedSink(options).destination.table).toBeUndefined();
  });

  test('without any of them there is no place to write to', () => {
    expect(linesOf(without(MINIMAL, 'table'))).toEqual([
      'table: is required unless destinationAttribute, mapping.destination or a module serializer names it, got nothing',
    ]);
  });

  test('a bare table without its project and instance names both', () => {
    expect(linesOf(without(MINIMAL, 'project', 'instance'))).toEqual([
      'project: is required because table is a bare table id, got nothing',
      'instance: is required because table is a bare table id, got nothing',
    ]);
  });

  test.each([
    ['', 'must not be blank'],
    [' t', 'must not start or end with white space'],
    ['t\t', 'must not start or end with white space'],
    ['a/b', 'must not contain "/"'],
  ])('a part %j of an address is refused wherever it stands', (part, rule) => {
    const got = JSON.stringify(part);
    for (const key of ['project', 'instance', 'table']) {
      expect(linesOf({ ...MINIMAL, [key]: part })).toEqual([`${key}: ${rule}, got ${got}`]);
      const table = { project: 'p', instance: 'i', table: 't', [key]: part };
      expect(linesOf({ ...MINIMAL, table })).toEqual([`table.${key}: ${rule}, got ${got}`]);
    }
  });

  test('what else a project or an instance may be is the service’s to judge', () => {
    expect(resolvedSink({ ...MINIMAL, project: 'a\tb' }).destination.table?.project).toBe('a\tb');
  });

  test.each(['a\tb', 'no such!', '-t', '.t', 't'.repeat(51), 'tä'])('%j is the id of no table', (table) => {
    const rule = 'must be an id of 1 to 50 letters, digits, "_", "-" and "." that starts with none of the last two';
    expect(linesOf({ ...MINIMAL, table })).toEqual([`table: ${rule}, got ${JSON.stringify(table)}`]);
    const address = { project: 'p', instance: 'i', table };
    expect(linesOf({ ...MINIMAL, table: address })).toEqual([`table.table: ${rule}, got ${JSON.stringify(table)}`]);
  });

  test('the id of a table may hold dots', () => {
    expect(resolvedSink({ ...MINIMAL, table: 'orders.eu.0131' }).destination.table?.table).toBe('orders.eu.0131');
  });

  test('an address that lacks parts names each', () => {
    expect(linesOf({ ...MINIMAL, table: { table: 't' } })).toEqual([
      'table.project: is required and must be a text, got nothing',
      'table.instance: is required and must be a text, got nothing',
    ]);
    expect(linesOf({ ...MINIMAL, table: 3 })).toEqual([
      'table: must be a table id or a section with project, instance and table, got 3',
    ]);
  });

  test('an attribute does not name tables beside a mapping that does', () => {
    const options = {
      ...without(MINIMAL, 'serializer'),
      destinationAttribute: 'table',
      mapping: {
        rowKey: '${k}',
        families: { f: { columns: { s: 'string' } } },
        destination: { template: 'orders-${region}', tables: ['orders-eu'] },
      },
    };
    expect(linesOf(options)).toEqual([
      'destinationAttribute: must not be set beside mapping.destination: one of them names the table of a record, got "table"',
    ]);
  });

  test.each([
    ['a'.repeat(256), []],
    ['a'.repeat(257), [expect.stringContaining('destinationAttribute: must be at most 256 bytes of UTF-8')]],
    ['ä'.repeat(129), [expect.stringContaining('destinationAttribute: must be at most 256 bytes of UTF-8')]],
    [' ', ['destinationAttribute: must not be blank, got " "']],
  ])('an attribute name is what Pub/Sub takes: %#', (destinationAttribute, lines) => {
    const options = { ...MINIMAL, destinationAttribute };
    if (lines.length === 0) expect(resolvedSink(options).destination.attribute).toBe(destinationAttribute);
    else expect(linesOf(options)).toEqual(lines);
  });
});

describe('access', () => {
  test('is by default what the application finds', () => {
    expect(resolvedSink(MINIMAL).access).toEqual({ mode: 'application-default' });
  });

  test('is a key file or an emulator', () => {
    expect(resolvedSink({ ...MINIMAL, serviceAccountKeyFile: 'key.json' }).access).toEqual({
      mode: 'key-file',
      serviceAccountKeyFile: 'key.json',
    });
    expect(resolvedSink({ ...MINIMAL, emulatorEndpoint: '[::1]:8086' }).access).toEqual({
      mode: 'emulator',
      host: '[::1]',
      port: 8086,
    });
  });

  test('is never both, and the path of the key is not printed', () => {
    const lines = linesOf({ ...MINIMAL, serviceAccountKeyFile: '/hidden/key.json', emulatorEndpoint: 'localhost:1' });
    expect(lines).toEqual([
      'emulatorEndpoint: must not be set beside serviceAccountKeyFile: an emulator takes no credentials, got "localhost:1"',
    ]);
    expect(linesOf({ ...MINIMAL, serviceAccountKeyFile: ['/hidden/key.json'] })).toEqual([
      'serviceAccountKeyFile: must be a text, got (not shown)',
    ]);
  });

  test('values of names that sound like credentials are not printed, whatever the option', () => {
    const lines = linesOf({
      ...MINIMAL,
      password: 'hunter2',
      serviceAcountKeyFile: '/hidden',
      writerOptions: 'hidden',
    });
    expect(lines.slice(0, 2)).toEqual([
      expect.stringMatching(/^password: is not an option here .*got \(not shown\)$/),
      'serviceAcountKeyFile: is not an option here, did you mean "serviceAccountKeyFile"?, got (not shown)',
    ]);
    expect(linesOf({ ...MINIMAL, table: { secret: 'hunter2' } }).join()).not.toContain('hunter2');
    expect(linesOf({ ...MINIMAL, topic: { secret: 'hunter2' } })).toEqual([expect.stringContaining('got {secret}')]);
  });

  test.each(['', ' ', '\t'])('blank names are refused: %j', (blank) => {
    expect(linesOf({ ...MINIMAL, appProfileId: blank })).toEqual([
      `appProfileId: must not be blank, got ${JSON.stringify(blank)}`,
    ]);
    expect(linesOf({ ...MINIMAL, serviceAccountKeyFile: blank })).toEqual([
      'serviceAccountKeyFile: must not be blank, got (not shown)',
    ]);
  });
});

describe('serializer', () => {
  test('is entry, or a module with options of any JSON', () => {
    expect(resolvedSink(MINIMAL).serializer).toEqual({ kind: 'entry' });
    const options = { deep: [1, 'a', null, { b: true }] };
    expect(resolvedSink({ ...MINIMAL, serializer: { module: './s.ts', options } }).serializer).toEqual({
      kind: 'module',
      module: './s.ts',
      options,
    });
  });

  test.each([
    [undefined, 'serializer: is required unless there is a mapping, got nothing'],
    ['Entry', 'serializer: must be "entry" or a section with "module", got "Entry"'],
    [{ module: ' ' }, 'serializer.module: must not be blank, got " "'],
    [{ options: {} }, 'serializer.module: is required and must be a text, got nothing'],
    [
      { module: 'm', options: { when: new Date(0) } },
      'serializer.options: must be a value that JSON can hold, got {when}',
    ],
    [{ module: 'm', options: Number.NaN }, 'serializer.options: must be a value that JSON can hold, got NaN'],
  ])('refuses %j', (serializer, line) => {
    expect(linesOf({ ...MINIMAL, serializer })).toEqual([line]);
  });
});

describe('mapping', () => {
  const mapping = { rowKey: '${id}', families: { f: { columns: { total: { type: 'int64' } } } } };
  const mapped = { ...without(MINIMAL, 'serializer'), mapping };

  test('stands in for a serializer, resolved to plain data', () => {
    const { serializer } = resolvedSink(mapped);
    expect(serializer).toMatchObject({ kind: 'mapping', mapping: { write: { mode: 'upsert' } } });
    expect(JSON.parse(JSON.stringify(serializer))).toEqual(serializer);
  });

  test.each([
    [
      { ...MINIMAL, mapping },
      'serializer: must not be set beside mapping: one of them says what a record becomes, got "entry"',
    ],
    [
      { ...mapped, mapping: { ...mapping, writeMode: 'increment' } },
      'mapping.writeMode: must be a mode of bulk-sink (upsert, keep-latest, aggregate), got "increment"',
    ],
  ])('is refused where it cannot be right', (options, line) => {
    expect(linesOf(options)).toEqual([line]);
  });

  test('reports all of its problems with those of the pipeline', () => {
    const lines = linesOf({ ...mapped, framing: 'xml', mapping: { rowKey: '${id', families: {} } });
    expect(lines.filter((line) => line.startsWith('mapping.')).length).toBeGreaterThan(1);
    expect(lines.some((line) => line.startsWith('framing:'))).toBe(true);
  });

  test('may name the table, and then the pipeline need not', () => {
    const destination = { template: 'orders-${region}', tables: ['orders-eu', 'orders-us'] };
    const { destination: place } = resolvedSink(without({ ...mapped, mapping: { ...mapping, destination } }, 'table'));
    expect(place).not.toHaveProperty('table');
  });
});

describe('failure policy', () => {
  const deadLetter = { topic: 'orders-dlq' };

  test('a dead letter has a topic of its own', () => {
    expect(resolvedSink({ ...MINIMAL, failurePolicy: 'dead-letter', deadLetter }).failure).toEqual({
      policy: 'dead-letter',
      deadLetter: {
        topic: 'projects/p/topics/orders-dlq',
        replayTopic: 'projects/p/topics/orders-dlq-orders-replay',
        replaySubscription: 'projects/p/subscriptions/orders-dlq-orders-replay',
        acceptLettersOf: [],
        payload: 'entry',
        maxOutstandingMessages: 1_000,
        flushTimeoutMillis: 60_000,
        shutdownTimeoutMillis: 30_000,
      },
    });
  });

  test('letters come back by a topic beside the one that they go to, or by one that is named', () => {
    const lettersOf = (options: object) => {
      const { failure } = resolvedSink({
        ...MINIMAL,
        failurePolicy: 'dead-letter',
        deadLetter: { topic: 'projects/q/topics/dlq', ...options },
      });
      return failure.policy === 'dead-letter' ? failure.deadLetter : undefined;
    };
    expect(lettersOf({})).toMatchObject({
      replayTopic: 'projects/q/topics/dlq-orders-replay',
      replaySubscription: 'projects/p/subscriptions/dlq-orders-replay',
    });
    expect(lettersOf({ replayTopic: 'again', acceptLettersOf: ['sales'] })).toMatchObject({
      replayTopic: 'projects/p/topics/again',
      replaySubscription: 'projects/p/subscriptions/again',
      acceptLettersOf: ['sales'],
    });
  });

  test.each([
    ['orders', 'the topic of the pipeline'],
    ['projects/p/topics/orders-dlq', 'the topic of dead letters'],
  ])('letters never come back by a topic of another use: %s', (replayTopic, use) => {
    const lines = linesOf({ ...MINIMAL, failurePolicy: 'dead-letter', deadLetter: { ...deadLetter, replayTopic } });
    expect(lines).toEqual([
      expect.stringContaining(`deadLetter.replayTopic: must be a topic of its own, and is ${use}`),
    ]);
  });

  test('names of pipelines whose letters are taken over are names of pipelines', () => {
    const lines = linesOf({
      ...MINIMAL,
      failurePolicy: 'dead-letter',
      deadLetter: { ...deadLetter, acceptLettersOf: ['sales', 'Old Orders'] },
    });
    expect(lines).toEqual([
      expect.stringMatching(/^deadLetter\.acceptLettersOf\.1: .*name of a pipeline.*got "Old Orders"$/),
    ]);
  });

  test('two pipelines do not share a topic by which letters come back', () => {
    const sink = {
      ...MINIMAL,
      failurePolicy: 'dead-letter',
      deadLetter: { ...deadLetter, replayTopic: 'projects/p/topics/again' },
    };
    expect(() => resolveConfig({ pipelines: { a: sink, b: sink } }, 'test')).toThrow(
      'pipelines.b.deadLetter.replayTopic: must be a topic of its own, and the letters of the pipeline a come back by it',
    );
  });

  test.each(['orders', 'projects/p/topics/orders'])(
    'dead letters never go to the topic of the pipeline: %s',
    (topic) => {
      const lines = linesOf({ ...MINIMAL, failurePolicy: 'dead-letter', deadLetter: { topic } });
      expect(lines).toEqual([expect.stringContaining('deadLetter.topic: must not be the topic of the pipeline')]);
    },
  );

  test('the policy needs the section and the section the policy', () => {
    expect(linesOf({ ...MINIMAL, failurePolicy: 'dead-letter' })).toEqual([
      'deadLetter: is required by the failurePolicy dead-letter, got nothing',
    ]);
    expect(linesOf({ ...MINIMAL, deadLetter })).toEqual([
      'failurePolicy: must be "dead-letter" where deadLetter is set, got "fail"',
    ]);
    expect(linesOf({ ...MINIMAL, failurePolicy: 'log-and-drop', deadLetter })).toEqual([
      'failurePolicy: must be "dead-letter" where deadLetter is set, got "log-and-drop"',
    ]);
  });

  test('the section needs its topic', () => {
    expect(linesOf({ ...MINIMAL, failurePolicy: 'dead-letter', deadLetter: {} })).toEqual([
      expect.stringMatching(/^deadLetter\.topic: is required and must be an id of 3/),
    ]);
  });
});

describe('rules between options', () => {
  test('retryMaxBackoff is at least retryInitialBackoff', () => {
    const backoffs = { retryInitialBackoff: '2001ms' };
    expect(linesOf({ ...MINIMAL, writerOptions: backoffs })).toEqual([
      'writerOptions.retryMaxBackoff: must be at least retryInitialBackoff (2001ms), got "2s"',
    ]);
    expect(resolvedSink({ ...MINIMAL, writerOptions: { ...backoffs, retryMaxBackoff: '2001ms' } })).toBeDefined();
  });

  test('deadlineMargin is below ackDeadline', () => {
    expect(linesOf({ ...MINIMAL, ackDeadline: '10s', deadlineMargin: '10s' })).toEqual([
      'deadlineMargin: must be below ackDeadline (10s), got "10s"',
    ]);
  });

  test('an option that is wrong by itself breaks no rule with another', () => {
    expect(linesOf({ ...MINIMAL, ackDeadline: '1s', deadlineMargin: '20s' })).toEqual([
      expect.stringMatching(/^ackDeadline: must be a duration/),
    ]);
  });
});

describe('warnings', () => {
  test.each([
    ['maxInFlightEntries', 20_000, 20_001],
    ['maxInFlightBytes', '100MiB', '104857601B'],
  ])('%s warns above the budget of the official clients and not at it', (key, at, above) => {
    const warningsOf = (value: unknown): readonly string[] =>
      resolveConfig(documentOf(withOption(MINIMAL, `writerOptions.${key}`, value)), 'test').warnings;
    expect(warningsOf(at)).toEqual([]);
    expect(warningsOf(above)).toEqual([
      expect.stringMatching(new RegExp(`^pipelines.orders.writerOptions.${key}: [0-9]+ is above `)),
    ]);
  });

  test('the defaults give none', () => {
    expect(resolveConfig(documentOf(MINIMAL), 'test').warnings).toEqual([]);
  });
});

describe('unknown options', () => {
  test.each([
    ['max-in-flight-entries', 'writerOptions.maxInFlightEntries'],
    ['linger', 'writerOptions.linger'],
    ['tabel', 'table'],
    ['Topic', 'topic'],
    ['flushTimeOut', 'deadLetter.flushTimeout'],
  ])('%s suggests %s', (key, nearest) => {
    expect(linesOf({ ...MINIMAL, [key]: 'x' })).toEqual([
      `${key}: is not an option here, did you mean "${nearest}"?, got "x"`,
    ]);
  });

  test('a name that resembles nothing lists what there is', () => {
    expect(linesOf({ ...MINIMAL, parallelism: 4 })).toEqual([
      expect.stringMatching(/^parallelism: is not an option here \(known: kind, topic, subscription, .*\), got 4$/),
    ]);
  });

  test('names of the prototype are not options', () => {
    expect(linesOf({ ...MINIMAL, constructor: 1, toString: 1 })).toHaveLength(2);
  });

  test('they are found at every level', () => {
    const document = {
      default: {},
      defaults: { topic: 'orders' },
      pipelines: { orders: { ...MINIMAL, writerOptions: { lingr: '1ms' } } },
    };
    expect(problemsOf(document).map(({ path, rule }) => `${path}: ${rule}`)).toEqual([
      'default: is not an option here, did you mean "defaults"?',
      expect.stringMatching(/^defaults\.topic: is not an option here/),
      'pipelines.orders.writerOptions.lingr: is not an option here, did you mean "linger"?',
    ]);
  });
});

describe('the document', () => {
  test.each([
    [null, 'document: must be a section with "pipelines", got null'],
    ['text', 'document: must be a section with "pipelines", got "text"'],
    [[], 'document: must be a section with "pipelines", got a list of 0'],
    [{}, 'pipelines: must name at least one pipeline, got nothing'],
    [{ pipelines: {} }, 'pipelines: must name at least one pipeline, got {}'],
    [{ pipelines: [1] }, 'pipelines: must name at least one pipeline, got a list of 1'],
    [{ pipelines: { a: null } }, 'pipelines.a: must be a section of options, got null'],
    [
      { pipelines: { a: {} } },
      'pipelines.a.kind: is required and must be one of "bulk-sink", "staged-sink", "request-sink", "scan-source", "change-stream-source", got nothing',
    ],
    [
      { pipelines: { a: { kind: 'Bulk-Sink' } } },
      'pipelines.a.kind: must be one of "bulk-sink", "staged-sink", "request-sink", "scan-source", "change-stream-source", got "Bulk-Sink"',
    ],
    [
      { pipelines: { a: { kind: 'toString' } } },
      'pipelines.a.kind: must be one of "bulk-sink", "staged-sink", "request-sink", "scan-source", "change-stream-source", got "toString"',
    ],
    [{ defaults: 3, pipelines: { a: MINIMAL } }, 'defaults: must be a section of options, got 3'],
  ])('%j is refused', (document, line) => {
    expect(problemsOf(document).map(({ path, rule, got }) => `${path}: ${rule}, got ${got}`)).toEqual([line]);
  });

  test.each(['Orders', '1a', 'a_b', 'a'.repeat(41), '-a', 'a b', ''])('a pipeline is not named %j', (name) => {
    const [{ path, rule, got } = { path: '', rule: '', got: '' }, ...others] = problemsOf({
      pipelines: { [name]: MINIMAL },
    });
    expect(others).toEqual([]);
    expect(path).toMatch(/^pipelines\./);
    expect(rule).toMatch(/1 to 40 of a-z/);
    expect(got).toBe(JSON.stringify(name));
  });

  test.each(['a', 'a-1', 'a'.repeat(40), 'constructor'])('a pipeline may be named %j', (name) => {
    expect(Object.keys(resolveConfig({ pipelines: { [name]: MINIMAL } }, 'test').config.pipelines)).toEqual([name]);
  });

  test('may name its JSON Schema', () => {
    expect(resolveConfig({ $schema: './connector.schema.json', pipelines: { a: MINIMAL } }, 'test')).toBeDefined();
  });

  test('says every problem at once, of every pipeline, in the order of the document', () => {
    const document = {
      defaults: { instance: 3 },
      pipelines: {
        a: {
          ...without(MINIMAL, 'instance'),
          topic: 'x',
          failurePolicy: 'none',
          writerOptions: { linger: 5, lingr: 5 },
        },
        b: { kind: 'nothing' },
        c: { ...MINIMAL, deadlineMargin: '600s', emulatorEndpoint: 'x', serviceAccountKeyFile: ' ' },
      },
    };
    expect(problemsOf(document).map(({ path }) => path)).toEqual([
      'defaults.instance',
      'pipelines.a.topic',
      'pipelines.a.failurePolicy',
      'pipelines.a.writerOptions.lingr',
      'pipelines.a.writerOptions.linger',
      'pipelines.b.kind',
      'pipelines.c.serviceAccountKeyFile',
      'pipelines.c.emulatorEndpoint',
      'pipelines.c.deadlineMargin',
    ]);
  });

  test('the error counts the problems and shows one a line', () => {
    expect(() => resolveConfig({ pipelines: { a: { kind: 1 }, b: 2 } }, 'connector.yaml')).toThrow(
      'connector.yaml: 2 problems\n  pipelines.a.kind: must be one of "bulk-sink", "staged-sink", "request-sink", "scan-source", "change-stream-source", got 1\n  pipelines.b: must be a section of options, got 2',
    );
  });
});
