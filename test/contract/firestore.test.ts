import { Firestore } from '@google-cloud/firestore';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFirestoreServer } from '../../infra/local/servers/firestore/server.ts';
import type { FirestoreDefinition } from '../../shared/proto/google/firestore/v1/firestore.ts';
import { connect } from '../support/firestore-raw-client.ts';
import type { ContractCase } from './firestore-case.ts';
import { DIFFERENCES, SOMETIMES } from './firestore-differences.ts';
import { QUERY_CASES } from './firestore-query-cases.ts';
import { TRANSACTION_CASES } from './firestore-transaction-cases.ts';
import { WRITE_CASES } from './firestore-write-cases.ts';
import {
  type FirestoreEmulator,
  isFirestoreEmulatorMissing,
  skipReason,
  startFirestoreEmulator,
} from './google-firestore-emulator.ts';
import { type ClientOf } from '../../infra/local/servers/rpc/client.ts';

/** What the service promises, asked of the embedded server and, where the Cloud SDK has it, of Google's emulator. */
const CASES: readonly ContractCase[] = [...WRITE_CASES, ...QUERY_CASES, ...TRANSACTION_CASES];

/** @param expected the answers that will do, nearly always one. */
function conformance(
  start: () => Promise<FirestoreEmulator>,
  expected: (each: ContractCase) => readonly unknown[],
): void {
  let backend: FirestoreEmulator;
  let client: Firestore;
  let raw: ClientOf<FirestoreDefinition>;
  let collections = 0;

  beforeAll(async () => {
    backend = await start();
    client = new Firestore({
      projectId: 'p',
      host: backend.address,
      ssl: false,
      customHeaders: { Authorization: 'Bearer owner' },
    });
    raw = connect(backend.address);
  });

  afterAll(async () => {
    raw.close();
    await client.terminate();
    await backend.close();
  });

  test.each(CASES.map((each) => [each.name, each] as const))('%s', async (_name, each) => {
    collections += 1;
    const collection = client.collection(`case-${collections}`);
    const answer = await each.run({ client, raw, collection });
    const [usual, ...others] = expected(each);
    if (others.length === 0) expect(answer).toEqual(usual);
    else expect([usual, ...others]).toContainEqual(answer);
  });
}

describe('the embedded Firestore answers as the service does', () => {
  conformance(
    () => startFirestoreServer(),
    ({ service }) => [service],
  );
});

describe.skipIf(isFirestoreEmulatorMissing)(
  `Google's emulator answers so too, but for known differences${skipReason}`,
  () => {
    conformance(startFirestoreEmulator, ({ name, service }) => [
      name in DIFFERENCES ? DIFFERENCES[name] : service,
      ...(name in SOMETIMES ? [SOMETIMES[name]] : []),
    ]);
  },
);

test('every known difference is one, and of a case that is there', () => {
  for (const [name, answer] of [...Object.entries(DIFFERENCES), ...Object.entries(SOMETIMES)]) {
    const found = CASES.find((each) => each.name === name);
    expect(found, name).toBeDefined();
    expect(answer, name).not.toEqual(found?.service);
  }
});
