import * as z from 'zod';
import { stagedFailureOptions } from '../../options/failure.ts';
import { requestOptions } from '../../options/requests.ts';
import { serializerOptions } from '../../options/serializer.ts';
import { deliveryOptions, placeOptions } from '../../options/shared.ts';
import { destinationOptions, kindOption, sourceOptions } from '../../options/sink.ts';
import { firestoreOptions, identityOptions, stagingOptions } from '../../options/staging.ts';

/** Every option of a staged sink, declared. */
export const stagedSinkSection = z.strictObject({
  kind: kindOption('staged-sink'),
  ...sourceOptions,
  ...placeOptions,
  ...destinationOptions,
  ...serializerOptions,
  ...stagedFailureOptions,
  ...identityOptions,
  ...firestoreOptions,
  ...stagingOptions,
  ...requestOptions,
  ...deliveryOptions,
});

export type StagedSinkOptions = z.output<typeof stagedSinkSection>;

/** What the document's defaults may set for every staged sink. */
export const sharedNames: readonly string[] = [
  ...[placeOptions, firestoreOptions, requestOptions, deliveryOptions].flatMap((options) => Object.keys(options)),
  'failurePolicy',
  'deadLetter',
];

/** Options that mean nothing where nothing is staged. */
export const stagingNames = [...Object.keys(stagingOptions), ...Object.keys(firestoreOptions)] as readonly (
  keyof typeof stagingOptions | keyof typeof firestoreOptions
)[];
