import { expect, test } from 'vitest';
import {
  adminMethod,
  appProfilePath,
  callMetadata,
  dataMethod,
  instancePath,
  TableMetadata,
} from '../../../../shared/google/bigtable/call.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { FeatureFlags } from '../../../../shared/proto/google/bigtable/v2/feature_flags.ts';

const T = tableName('example.com:p', 'i', 't');

test('methods and resources are named as the service names them', () => {
  expect(dataMethod('ReadRows')).toBe('/google.bigtable.v2.Bigtable/ReadRows');
  expect(adminMethod('BigtableTableAdmin', 'GetTable')).toBe('/google.bigtable.admin.v2.BigtableTableAdmin/GetTable');
  expect(instancePath(T)).toBe('projects/example.com:p/instances/i');
  expect(appProfilePath(T, 'one')).toBe('projects/example.com:p/instances/i/appProfiles/one');
});

test('an empty profile is the one that the instance calls default', () => {
  expect(appProfilePath(T, '')).toBe('projects/example.com:p/instances/i/appProfiles/default');
});

test('a call names its client, and its resource percent-encoded', () => {
  const metadata = callMetadata({ name: 'projects/example.com:p/a b', other: 'é' });
  expect(metadata.get('x-goog-request-params')).toEqual(['name=projects%2Fexample.com%3Ap%2Fa%20b&other=%C3%A9']);
  expect(metadata.get('x-goog-api-client')[0]).toMatch(/^gl-node\/\S+ grpc\/\S+ gccl\/\S+$/);
  expect(metadata.get('bigtable-features')).toEqual([]);
});

test('a client that obeys flow control announces it', () => {
  const [features] = callMetadata({}, 'flow-control').get('bigtable-features');
  const flags = FeatureFlags.decode(Buffer.from(String(features), 'base64url'));
  expect(flags).toMatchObject({ mutateRowsRateLimit: true, mutateRowsRateLimit2: true });
});

test('a name that is no Unicode has no metadata', () => {
  expect(() => callMetadata({ name: '\ud800' })).toThrow(URIError);
});

test('calls of one table and profile share their metadata, those of others have their own', () => {
  const metadata = new TableMetadata();
  const first = metadata.of(T, 'one');
  const params = (profile: string) => metadata.of(T, profile).get('x-goog-request-params')[0];
  expect(params('two')).toContain('app_profile_id=two');
  expect(metadata.of({ ...T }, 'one')).toBe(first);
  expect(metadata.of({ ...T, table: 'u' }, 'one')).not.toBe(first);
});

test('of more tables than are kept the metadata is made for each call, and is right all the same', () => {
  const metadata = new TableMetadata();
  for (let at = 0; at < 1000; at += 1) metadata.of({ ...T, table: `t${at}` }, '');
  const beyond = { ...T, table: 'beyond' };
  const made = metadata.of(beyond, '');
  expect(made.get('x-goog-request-params')[0]).toContain('tables%2Fbeyond');
  metadata.of(T, '');
  expect(metadata.of(beyond, '')).not.toBe(made);
});
