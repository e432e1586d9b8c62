import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { describeError } from '../../../../shared/base/logging.ts';
import { DATA_SERVICE } from '../../../../shared/google/bigtable/services.ts';
import { CredentialsError, openAccess } from '../../../../shared/google/grpc/access.ts';

const SECRET = 'planted-secret';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), `${SECRET}-folder-`));
});

afterEach(() => {
  vi.unstubAllEnvs();
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function keyFile(content: unknown): Promise<string> {
  const path = join(folder, `${SECRET}-key.json`);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function refusal(access: Parameters<typeof openAccess>[0]): Promise<CredentialsError> {
  const error: unknown = await openAccess(access, DATA_SERVICE).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CredentialsError)) throw new Error('a CredentialsError was expected', { cause: error });
  return error;
}

/** Everything of an error that could reach a log. */
const everythingOf = (error: Error): string =>
  `${describeError(error)} ${String(error.stack)} ${JSON.stringify(error)}`;

const serviceAccount = () => ({
  type: 'service_account',
  project_id: 'p',
  private_key_id: 'id',
  private_key: generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString(),
  client_email: 'writer@p.iam.gserviceaccount.com',
});

test('an emulator is reached in plaintext and without credentials, whatever the environment holds', async () => {
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', join(folder, 'missing.json'));
  const { address, credentials } = await openAccess({ emulatorEndpoint: '127.0.0.1:8086' }, DATA_SERVICE);
  expect(address).toBe('127.0.0.1:8086');
  expect(credentials._isSecure()).toBe(false);
});

test('the key of a service account opens the service over TLS', async () => {
  const { address, credentials } = await openAccess(
    { serviceAccountKeyFile: await keyFile(serviceAccount()) },
    DATA_SERVICE,
  );
  expect(address).toBe('bigtable.googleapis.com:443');
  expect(credentials._isSecure()).toBe(true);
});

describe('a key file that cannot be used is refused without its path or anything of its content', () => {
  test.each([
    ['is missing', undefined],
    ['is not JSON', `{"private_key": "${SECRET}"`],
    ['is null', 'null'],
    ['is a text', JSON.stringify(SECRET)],
    ['is a list', [SECRET]],
    ['has no key', { type: 'service_account', client_email: SECRET }],
    ['has no address', { type: 'service_account', private_key: SECRET }],
    ['has a key that is no text', { type: 'service_account', client_email: SECRET, private_key: { key: SECRET } }],
    ['has no type', { client_email: SECRET, private_key: SECRET }],
    ['is a user', { type: 'authorized_user', client_id: SECRET, client_secret: SECRET, refresh_token: SECRET }],
    [
      'sends tokens to an address of its own',
      {
        type: 'external_account',
        client_email: SECRET,
        private_key: SECRET,
        token_url: `https://${SECRET}.example/token`,
        credential_source: { url: `https://${SECRET}.example/subject` },
      },
    ],
    [
      'impersonates by an address of its own',
      {
        type: 'impersonated_service_account',
        service_account_impersonation_url: `https://${SECRET}.example`,
        source_credentials: { type: 'authorized_user', refresh_token: SECRET },
      },
    ],
  ])('a file that %s', async (_what, content) => {
    const path = content === undefined ? join(folder, `${SECRET}-missing.json`) : await keyFile(content);
    const error = await refusal({ serviceAccountKeyFile: path });
    expect(error.message).toContain('serviceAccountKeyFile could not be used');
    expect(error.cause).toBeUndefined();
    expect(everythingOf(error)).not.toContain(SECRET);
  });

  test('a folder', async () => {
    expect(everythingOf(await refusal({ serviceAccountKeyFile: folder }))).not.toContain(SECRET);
  });
});

describe('application-default credentials that cannot be used are refused without path or content, and with what to do', () => {
  test.each([
    ['is missing', undefined],
    ['is not JSON', `{"private_key": "${SECRET}"`],
  ])('the file of the environment %s', async (_what, content) => {
    const path = content === undefined ? join(folder, `${SECRET}-missing.json`) : await keyFile(content);
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', path);
    const error = await refusal({});
    expect(error.message).toContain('attach a service account to the function, or set emulatorEndpoint');
    expect(everythingOf(error)).not.toContain(SECRET);
  });
});

test('application-default credentials of a service account open the service over TLS', async () => {
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', await keyFile(serviceAccount()));
  const { address, credentials } = await openAccess({}, DATA_SERVICE);
  expect(address).toBe('bigtable.googleapis.com:443');
  expect(credentials._isSecure()).toBe(true);
});
