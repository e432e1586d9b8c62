import { parseEmulatorEndpoint } from '../addresses.ts';
import { notBlank, optional, type Output, text } from '../option.ts';
import { duration, type InMillis, inMillis } from '../quantity.ts';
import type { Rule } from '../rules.ts';
import { addressPart } from './names.ts';

/** Options of every kind of pipeline: where its Bigtable is, how it is reached, and how often metrics are written. */

const endpointBounds = 'host:port without white space, port 1 to 65535';

export const placeOptions = {
  project: optional(
    addressPart(
      'Project of the Bigtable instance, and of every topic and subscription that is named by its bare id. Needed by a table that is named by its bare id.',
    ),
  ),
  instance: optional(
    addressPart('Bigtable instance of every table that is named by its bare id. Needed by such a table.'),
  ),
  appProfileId: optional(
    text(
      'Application profile that requests name; without it Bigtable uses the default profile of the instance. A Data Boost profile takes no writes, which is not checked here.',
      notBlank,
      'not blank',
    ),
  ),
  serviceAccountKeyFile: optional(
    text(
      'Path of a service account key, relative to the configuration; without it Application Default Credentials are used. Never with emulatorEndpoint; the path is never printed.',
      notBlank,
      'not blank',
    ),
  ),
  emulatorEndpoint: optional(
    text(
      'Address of a Bigtable emulator, spoken to in plaintext and without credentials. Never with serviceAccountKeyFile; nothing is trimmed.',
      (value) => (parseEmulatorEndpoint(value) ? undefined : `must be ${endpointBounds}`),
      endpointBounds,
    ),
  ),
};

export const metricsOptions = {
  metricsFlushInterval: duration(
    'Shortest time between two metric lines of one instance. 0ms writes one at the end of every invocation.',
    { default: '10s', min: '0ms' },
  ),
};

export type CommonOptions = Output<typeof placeOptions & typeof metricsOptions>;

/** What every pipeline runs by, whichever way its data go. */
export interface ResolvedCommon extends InMillis<Output<typeof metricsOptions>> {
  /** Absent: the instance's default profile. */
  readonly appProfileId?: string;
  readonly access: ResolvedAccess;
}

/** How to authenticate with Bigtable. */
export type ResolvedAccess =
  | { readonly mode: 'application-default' }
  /** A relative path belongs to the directory of the configuration. */
  | { readonly mode: 'key-file'; readonly serviceAccountKeyFile: string }
  /** Plaintext, no credentials. */
  | { readonly mode: 'emulator'; readonly host: string; readonly port: number };

export const commonOf = (options: CommonOptions): ResolvedCommon => ({
  ...(options.appProfileId !== undefined && { appProfileId: options.appProfileId }),
  access: accessOf(options),
  ...inMillis(metricsOptions, options),
});

function accessOf({ serviceAccountKeyFile, emulatorEndpoint }: CommonOptions): ResolvedAccess {
  if (serviceAccountKeyFile !== undefined) return { mode: 'key-file', serviceAccountKeyFile };
  const endpoint = emulatorEndpoint === undefined ? undefined : parseEmulatorEndpoint(emulatorEndpoint);
  return endpoint ? { mode: 'emulator', ...endpoint } : { mode: 'application-default' };
}

export const emulatorTakesNoKey: Rule<CommonOptions> = ({ options: { emulatorEndpoint }, isSet }) => {
  if (emulatorEndpoint === undefined || !isSet('serviceAccountKeyFile')) return [];
  const rule = 'must not be set beside serviceAccountKeyFile: an emulator takes no credentials';
  return [{ at: ['emulatorEndpoint'], rule, got: emulatorEndpoint }];
};
