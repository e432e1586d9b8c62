import * as z from 'zod';
import { failureOptions } from '../../options/failure.ts';
import { serializerOptions } from '../../options/serializer.ts';
import { deliveryOptions, placeOptions } from '../../options/shared.ts';
import { destinationOptions, kindOption, sourceOptions } from '../../options/sink.ts';
import { creationOptions } from '../../options/table-creation.ts';
import { writerOptions } from '../../options/writer.ts';

/** Every option of a bulk sink, declared. */
export const bulkSinkSection = z.strictObject({
  kind: kindOption('bulk-sink'),
  ...sourceOptions,
  ...placeOptions,
  ...destinationOptions,
  ...serializerOptions,
  ...failureOptions,
  ...creationOptions,
  ...writerOptions,
  ...deliveryOptions,
});

export type BulkSinkOptions = z.output<typeof bulkSinkSection>;

/** What the document's defaults may set for every bulk sink. */
export const sharedNames: readonly string[] = [
  placeOptions,
  failureOptions,
  creationOptions,
  writerOptions,
  deliveryOptions,
].flatMap((options) => Object.keys(options));
