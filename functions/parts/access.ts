import { resolve } from 'node:path';
import type { ResolvedAccess } from '../../shared/config/resolved.ts';
import type { BigtableAccess } from '../../shared/google/bigtable/credentials.ts';
import type { Environment } from './surroundings.ts';

/** How the clients reach Bigtable; a relative path of a key belongs to the directory of the configuration. */
export function accessOf(access: ResolvedAccess, baseDirectory: string, env: Environment): BigtableAccess {
  switch (access.mode) {
    case 'emulator':
      return { emulatorEndpoint: `${access.host}:${access.port}` };
    case 'key-file':
      return { serviceAccountKeyFile: resolve(baseDirectory, access.serviceAccountKeyFile) };
    case 'application-default': {
      // As the official clients do: the variable stands for emulatorEndpoint.
      const emulator = env.BIGTABLE_EMULATOR_HOST;
      return emulator === undefined || emulator === '' ? {} : { emulatorEndpoint: emulator };
    }
    default:
      return access satisfies never;
  }
}
