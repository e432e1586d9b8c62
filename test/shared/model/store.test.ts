import { expect, test } from 'vitest';
import { StoreError } from '../../../shared/model/store.ts';

test('says what was attempted, what came back and what to do', () => {
  const error = new StoreError('store 3 segments', 'PERMISSION_DENIED', 'Missing or insufficient permissions.');
  expect(error.message).toBe(
    'could not store 3 segments in Firestore: PERMISSION_DENIED: Missing or insufficient permissions. ' +
      'Grant roles/datastore.user on the project of the database to the service account of the function, or roles/datastore.viewer to whoever asks for the status',
  );
  expect(error.isTransient).toBe(false);
});

test.each(['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED', 'ABORTED', 'INTERNAL', 'UNKNOWN'] as const)(
  '%s may pass by itself',
  (status) => {
    expect(new StoreError('read the pipeline', status, 'x').isTransient).toBe(true);
  },
);

test.each(['NOT_FOUND', 'INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'UNAUTHENTICATED'] as const)(
  '%s stays until somebody changes something',
  (status) => {
    expect(new StoreError('read the pipeline', status, 'x').isTransient).toBe(false);
  },
);
