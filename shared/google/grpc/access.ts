import { readFile } from 'node:fs/promises';
import { type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js';
import type { AuthClient } from 'google-auth-library';
import { ConnectorError, toError } from '../../base/errors.ts';

/** Where a service is and how to prove who we are. `serviceAccountKeyFile` and `emulatorEndpoint` exclude each other. */
export interface ServiceAccess {
  /** `host:port` of an emulator: plaintext, no credentials. */
  readonly emulatorEndpoint?: string;
  /** Path of a service account's JSON key; without it, application-default credentials. */
  readonly serviceAccountKeyFile?: string;
}

/** The credentials could not be loaded. The message names neither the path nor anything of the content. */
export class CredentialsError extends ConnectorError {
  override readonly name = 'CredentialsError';
}

/** One of Google's APIs: where it is served, and the least that its credentials must be good for. */
export interface GoogleService {
  readonly address: string;
  readonly scope: string;
  /** How an emulator is named to the connector, for whoever has no credentials. */
  readonly emulator: string;
}

/** Resolves the address and the channel's credentials. The auth library is loaded only where it is needed. */
export async function openAccess(
  access: ServiceAccess,
  service: GoogleService,
): Promise<{ address: string; credentials: ChannelCredentials }> {
  if (access.emulatorEndpoint !== undefined) {
    return { address: access.emulatorEndpoint, credentials: credentials.createInsecure() };
  }
  const client = await (access.serviceAccountKeyFile === undefined
    ? defaultClient(service)
    : keyFileClient(access.serviceAccountKeyFile, service));
  const perCall = credentials.createFromMetadataGenerator(({ service_url }, done) => {
    client.getRequestHeaders(service_url).then(
      (headers) => {
        const metadata = new Metadata();
        for (const [name, value] of headers) metadata.set(name, value);
        done(null, metadata);
      },
      (error: unknown) => {
        done(toError(error));
      },
    );
  });
  return {
    address: service.address,
    credentials: credentials.combineChannelCredentials(credentials.createSsl(), perCall),
  };
}

async function defaultClient({ scope, emulator }: GoogleService): Promise<AuthClient> {
  const { GoogleAuth } = await import('google-auth-library');
  try {
    return await new GoogleAuth({ scopes: [scope] }).getClient();
  } catch {
    throw new CredentialsError(
      `no application-default credentials were found: attach a service account to the function, or set ${emulator} to use an emulator`,
    );
  }
}

/** Only a service account's own key is taken: other credential types could send its tokens to an address of the file's choice. */
async function keyFileClient(path: string, { scope }: GoogleService): Promise<AuthClient> {
  const { JWT } = await import('google-auth-library');
  try {
    const key: unknown = JSON.parse(await readFile(path, 'utf8'));
    const { type, client_email: email, private_key: secret } = key as Record<string, unknown>;
    if (type !== 'service_account' || typeof email !== 'string' || typeof secret !== 'string') throw new Error('shape');
    return new JWT({ email, key: secret, scopes: [scope] });
  } catch {
    // No cause, on purpose: its message would carry the path or parts of the file.
    throw new CredentialsError(
      'the file named by serviceAccountKeyFile could not be used: check that it exists, is readable and is the JSON key of a service account',
    );
  }
}
