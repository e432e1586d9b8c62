import * as z from 'zod';
import { declare, optional, ruled } from '../option.ts';
import { attributeName, pubSubName, tablePart } from './shared.ts';

/** Where the records of a sink come from and where its rows go. */

export const kindOption = <const Name extends string>(name: Name) =>
  declare(z.literal(name), 'What the pipeline does.', { type: 'choice', bounds: `"${name}"`, isRequired: true });

export const sourceOptions = {
  topic: pubSubName('Topic that records are published to.', 'topics'),
  subscription: optional(
    pubSubName(
      'Push subscription that delivers the records; without it the topic id, a hyphen and the name of the pipeline. It must have no dead-letter policy of its own.',
      'subscriptions',
    ),
  ),
};

const tableSection = z.strictObject({
  project: tablePart('Project of the table.'),
  instance: tablePart('Instance of the table.'),
  table: tablePart('Id of the table.'),
});

export const destinationOptions = {
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
};
