import * as z from 'zod';
import { qualify } from '../../model/pubsub-name.ts';
import { choice, declare, notBlank, optional, type Output, ruled, text } from '../option.ts';
import { count } from '../quantity.ts';
import type { Rule } from '../rules.ts';
import type { CommonOptions } from './common.ts';
import { pubSubName } from './names.ts';

/** How what a source reads is handed on: to which topic, under which keys, how many in a message. */

const MAX_GROUPS = 100_000;

const keysRule = ruled(`must be "none", "row" or a whole number from 1 to ${MAX_GROUPS.toLocaleString('en-US')}`);

/** `host` or `host:port`, without white space or a scheme. */
const ENDPOINT = /^[A-Za-z0-9.-]+(:[0-9]{1,5})?$/;

const endpointProblem = (value: string): string | undefined =>
  notBlank(value) ??
  (ENDPOINT.test(value) ? undefined : 'must be host or host:port, such as "europe-west1-pubsub.googleapis.com"');

const orderingKeys = (fallback: 'none' | number) =>
  declare(
    z
      .union([z.enum(['none', 'row'], keysRule), z.int(keysRule).min(1, keysRule).max(MAX_GROUPS, keysRule)], keysRule)
      .prefault(fallback),
    'Ordering keys of messages: none; one for each row; or a number of groups of rows. A request of publishing holds messages of one key only, so that a key each costs about twelve times the CPU of 64 groups. A key carries 1 MB/s.',
    {
      type: 'text or number',
      default: String(fallback),
      bounds: `"none", "row" or 1 to ${MAX_GROUPS.toLocaleString('en-US')}`,
    },
  );

export const emissionOptions = {
  outputTopic: optional(pubSubName('Topic that messages are published to; it must exist.', 'topics')),
  publishEndpoint: optional(
    text(
      'Endpoint of Pub/Sub to publish by, without a scheme. Pub/Sub keeps the order of a key only within a region: with orderingKeys name the endpoint of one region.',
      endpointProblem,
      'host or host:port',
    ),
  ),
  orderingKeys: orderingKeys('none'),
  maxRecordsPerMessage: count(
    'Most records in one message, as lines of NDJSON, which the sinks of this project read with framing ndjson. With 1 a message is one record.',
    { default: 1, min: 1, max: 10_000 },
  ),
  oversizedMessage: choice(
    'Policy for a record that does not fit in a message of 9.5 MB: the run stops at it, or it is published in numbered parts, or a letter that names it is confirmed by deadLetterTopic and the run goes past it.',
    ['fail', 'parts', 'quarantine'],
    'fail',
  ),
  deadLetterTopic: optional(
    pubSubName(
      'Topic of letters about what could not be handed on; it must exist, and must not be outputTopic. Needed by failurePolicy dead-letter and by quarantine.',
      'topics',
    ),
  ),
  failurePolicy: choice(
    'Policy for a record that a module throws at, or that Pub/Sub refuses for its own sake: it stops where it is, or a letter with it is confirmed by deadLetterTopic and it goes on.',
    ['fail', 'dead-letter'],
    'fail',
  ),
};

const { outputTopic, publishEndpoint, maxRecordsPerMessage } = emissionOptions;

/** Of a source of changes: the order of each row is kept unless somebody asks for less. */
export const changeEmissionOptions = {
  outputTopic: declare(outputTopic.unwrap(), outputTopic.description ?? '', { type: 'text', isRequired: true }),
  publishEndpoint,
  orderingKeys: orderingKeys(64),
  maxRecordsPerMessage,
};

type ChangeEmissionOptions = Output<typeof changeEmissionOptions> & Pick<CommonOptions, 'project'>;

type EmissionOptions = Output<typeof emissionOptions> & Pick<CommonOptions, 'project'>;

export interface ResolvedEmission {
  /** `projects/p/topics/t`, or a bare id where no project is configured. Absent where nothing is published. */
  readonly topic?: string;
  readonly endpoint?: string;
  readonly orderingKeys: 'none' | 'row' | number;
  readonly maxRecordsPerMessage: number;
  readonly oversizedMessage: 'fail' | 'parts' | 'quarantine';
  readonly failurePolicy: 'fail' | 'dead-letter';
  readonly deadLetterTopic?: string;
}

export const emissionOf = (options: EmissionOptions): ResolvedEmission => ({
  ...(options.outputTopic !== undefined && { topic: qualify(options.outputTopic, 'topics', options.project) }),
  ...(options.publishEndpoint !== undefined && { endpoint: options.publishEndpoint }),
  orderingKeys: options.orderingKeys,
  maxRecordsPerMessage: options.maxRecordsPerMessage,
  oversizedMessage: options.oversizedMessage,
  failurePolicy: options.failurePolicy,
  ...(options.deadLetterTopic !== undefined && {
    deadLetterTopic: qualify(options.deadLetterTopic, 'topics', options.project),
  }),
});

/** A change that cannot be handed on stops its partition: nothing is skipped. */
export const changeEmissionOf = (options: ChangeEmissionOptions): ResolvedEmission & { readonly topic: string } => ({
  topic: qualify(options.outputTopic, 'topics', options.project),
  ...(options.publishEndpoint !== undefined && { endpoint: options.publishEndpoint }),
  orderingKeys: options.orderingKeys,
  maxRecordsPerMessage: options.maxRecordsPerMessage,
  oversizedMessage: 'fail',
  failurePolicy: 'fail',
});

export const emissionRules: readonly Rule<EmissionOptions & { readonly oversizedRow?: string }>[] = [
  function lettersHaveATopic({ options: { failurePolicy, oversizedMessage, oversizedRow }, isSet }) {
    const needed = [
      ...(failurePolicy === 'dead-letter' ? ['failurePolicy "dead-letter"'] : []),
      ...(oversizedMessage === 'quarantine' ? ['oversizedMessage "quarantine"'] : []),
      ...(oversizedRow === 'quarantine' ? ['oversizedRow "quarantine"'] : []),
    ];
    if (isSet('deadLetterTopic') === needed.length > 0) return [];
    return isSet('deadLetterTopic')
      ? [{ at: ['deadLetterTopic'], rule: 'must not be set unless a policy publishes letters to it' }]
      : [{ at: ['deadLetterTopic'], rule: `is required by ${needed.join(' and ')}` }];
  },
  function lettersAreNoOutput({ options: { outputTopic, deadLetterTopic, project } }) {
    if (outputTopic === undefined || deadLetterTopic === undefined) return [];
    if (qualify(outputTopic, 'topics', project) !== qualify(deadLetterTopic, 'topics', project)) return [];
    return [{ at: ['deadLetterTopic'], rule: 'must be another topic than outputTopic', got: deadLetterTopic }];
  },
];
