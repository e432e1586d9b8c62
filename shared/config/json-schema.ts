import * as z from 'zod';
import { defaultsShape } from './defaults.ts';
import { mappingSchema } from '../mapping/declared/schema/mapping.ts';
import { formJsonSchema } from '../forms/json-schema.ts';
import { scanFilter } from '../forms/scan-filter-form.ts';
import { filterValue } from './options/scan-selection.ts';
import { mappingValue } from './options/serializer.ts';
import { nestedSection } from './read.ts';
import { KINDS } from './kinds.ts';
import { PIPELINE_NAME } from './addresses.ts';

/**
 * The JSON Schema of `connector.yaml`, for editors: made of the same declarations as the check. It says less than the
 * check does: bounds of durations and sizes, and rules between options, have no words in JSON Schema.
 */
export function connectorJsonSchema(): Readonly<Record<string, unknown>> {
  const pipelines = Object.entries(KINDS).map(([name, { section }]) =>
    section.meta({ title: `A pipeline of kind ${name}` }),
  );
  const document = z.strictObject({
    $schema: z.string().optional(),
    defaults: z
      .strictObject(defaultsShape)
      .optional()
      .meta({ description: 'Options that every pipeline takes which does not set them itself.' }),
    pipelines: z
      .record(z.string().regex(PIPELINE_NAME), z.union(pipelines))
      .meta({ description: 'Pipelines by name: 1 to 40 of a-z, 0-9 and "-", starting with a letter.' }),
  });
  const shared = Object.values(KINDS).flatMap(({ section, shared: names }) =>
    names.map((name) => section.shape[name] as z.ZodType),
  );
  const sharedSections = new Set<z.core.$ZodType>(
    [...Object.values(defaultsShape), ...shared].flatMap((each) => nestedSection(each) ?? []),
  );
  const { $defs, $ref } = formJsonSchema(scanFilter);
  const schema = z.toJSONSchema(document, {
    io: 'input',
    target: 'draft-2020-12',
    // What a custom check takes cannot be said; whatever JSON holds may stand there.
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // What is required of a shared section may stand in the defaults, in the pipeline, or half in each.
      if (sharedSections.has(zodSchema)) delete jsonSchema.required;
      if (zodSchema === mappingValue) Object.assign(jsonSchema, mappingJsonSchema());
      if (zodSchema === filterValue) Object.assign(jsonSchema, { $ref });
    },
  });
  return {
    ...schema,
    $defs: { ...schema.$defs, ...($defs as object) },
    title: 'connector.yaml of the Bigtable connector for Cloud Functions',
  };
}

/** The schema of a mapping alone: also what its reference page is made of. */
export function mappingJsonSchema(): Readonly<Record<string, unknown>> {
  const schema: Record<string, unknown> = z.toJSONSchema(mappingSchema, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any',
  });
  delete schema.$schema;
  return schema;
}
