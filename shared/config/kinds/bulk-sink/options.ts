import * as z from 'zod';
import { declare, optional, ruled } from '../../option.ts';
import { failureOptions } from '../../options/failure.ts';
import { serializerOptions } from '../../options/serializer.ts';
import { creationOptions } from '../../options/table-creation.ts';
import { attributeName, deliveryOptions, placeOptions, pubSubName, tablePart } from '../../options/shared.ts';
import { writerOptions } from '../../options/writer.ts';

/** Every option of a bulk sink, declared. */

const tableSection = z.strictObject({
  project: tablePart('Project of the table.'),
  instance: tablePart('Instance of the table.'),
  table: tablePart('Id of the table.'),
});

export const bulkSinkSection = z.strictObject({
  kind: declare(z.literal('bulk-sink'), 'What the pipeline does.', {
    type: 'choice',
    bounds: '"bulk-sink"',
    isRequired: true,
  }),
  topic: pubSubName('Topic that records are published to.', 'topics'),
  subscription: optional(
    pubSubName(
      'Push subscription that delivers the records; without it the topic id, a hyphen and the name of the pipeline. It must have no dead-letter policy of its own.',
      'subscriptions',
    ),
  ),
  ...placeOptions,
  table: declare(
    optional(
      z.union(
        [tablePart('Id of the table.'), tableSection],
        ruled('must be a table id or a section with project, instance and table'),
      ),
    ),
    'Table that rows go to: its id, which needs project and instance, or its whole address. A record may name another one by destinationAttribute or a module serializer.',
    { type: 'text or section', bounds: 'a table id or {project, instance, table}' },
  ),
  destinationAttribute: optional(
    attributeName(
      'Message attribute that names the table of each record, as project.instance.table or as a bare table id. A message without it goes to table, and without that it comes back until it is changed; it is never dropped.',
    ),
  ),
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
