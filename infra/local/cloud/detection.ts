import type { EmulatorSearch, EmulatorCommand, ServiceName } from './cloud-sdk.ts';
import { LocalCloudError } from '../base/local-error.ts';

/** Which backends may be started. `google` and `auto` take Google's emulators where the Cloud SDK has them. */
export const LOCAL_CLOUD_MODES = ['embedded', 'google', 'auto'] as const;
export type LocalCloudMode = (typeof LOCAL_CLOUD_MODES)[number];

/** The variable by which Google's clients, and the connector, are told where a local service is. */
export const HOST_VARIABLES = {
  bigtable: 'BIGTABLE_EMULATOR_HOST',
  pubsub: 'PUBSUB_EMULATOR_HOST',
  firestore: 'FIRESTORE_EMULATOR_HOST',
} as const satisfies Record<ServiceName, string>;

/** What is known of one service before anything is started. */
export interface DetectionFacts {
  readonly service: ServiceName;
  readonly mode: LocalCloudMode;
  /** The value of its host variable, absent when unset or empty. */
  readonly host?: string;
  /** Whether something answers TCP at that host. */
  readonly hostAnswers: boolean;
  /** Only looked for in the modes that may use it. */
  readonly emulator?: EmulatorSearch;
}

export type Choice = { readonly why: string; readonly warning?: string } & (
  | { readonly kind: 'existing'; readonly endpoint: string }
  | { readonly kind: 'google'; readonly emulator: EmulatorCommand }
  | { readonly kind: 'embedded' }
);

/**
 * Decides where one service of the local cloud comes from. Pure, so that the order is a table in a test: a host that
 * is set and answers, then Google's emulator where it is wanted and can run, then the embedded server.
 */
export function chooseBackend({ service, mode, host, hostAnswers, emulator }: DetectionFacts): Choice {
  const variable = HOST_VARIABLES[service];
  if (host !== undefined && hostAnswers) return { kind: 'existing', endpoint: host, why: `${variable} is set` };
  const warnings = host === undefined ? [] : [`${variable}=${host} is set, but nothing answers there; it is ignored`];
  if (mode !== 'embedded' && emulator && 'found' in emulator) {
    return { kind: 'google', emulator: emulator.found, why: `asked for by ${mode}`, ...warningOf(warnings) };
  }
  if (mode === 'embedded') return { kind: 'embedded', why: 'the default', ...warningOf(warnings) };
  const reason = emulator && 'missing' in emulator ? emulator.missing : 'it was not looked for';
  if (mode === 'google') warnings.push(`Google's ${service} emulator was asked for: ${reason}; embedded instead`);
  return { kind: 'embedded', why: `no Google emulator: ${reason}`, ...warningOf(warnings) };
}

const warningOf = (warnings: readonly string[]): { warning?: string } =>
  warnings.length === 0 ? {} : { warning: warnings.join('; ') };

/** Reads `LOCAL_CLOUD`. Throws a `LocalCloudError` that names the allowed values. */
export function parseMode(text: string | undefined): LocalCloudMode {
  if (text === undefined || text === '') return 'embedded';
  const mode = LOCAL_CLOUD_MODES.find((name) => name === text);
  if (mode === undefined)
    throw new LocalCloudError(
      `LOCAL_CLOUD: must be one of ${LOCAL_CLOUD_MODES.join(', ')}, got ${JSON.stringify(text)}`,
    );
  return mode;
}
