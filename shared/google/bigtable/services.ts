import type { GoogleService, ServiceAccess } from '../grpc/access.ts';

/** Where Bigtable is and how to prove who we are. */
export type BigtableAccess = ServiceAccess;

const EMULATOR = 'emulatorEndpoint or BIGTABLE_EMULATOR_HOST';

/** Reading and writing rows; nothing administrative. */
export const DATA_SERVICE: GoogleService = {
  address: 'bigtable.googleapis.com:443',
  scope: 'https://www.googleapis.com/auth/bigtable.data',
  emulator: EMULATOR,
};

/** Tables and their families. An emulator serves both APIs at one address. */
export const ADMIN_SERVICE: GoogleService = {
  address: 'bigtableadmin.googleapis.com:443',
  scope: 'https://www.googleapis.com/auth/bigtable.admin',
  emulator: EMULATOR,
};
