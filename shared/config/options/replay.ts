import * as z from 'zod';
import { PIPELINE_NAME } from '../addresses.ts';
import { bareId, projectOf, qualify } from '../../model/pubsub-name.ts';
import { declare, optional, type Output, ruled } from '../option.ts';
import type { Rule } from '../rules.ts';
import type { CommonOptions } from './common.ts';
import { type InputOptions, MAX_RESOURCE_ID } from './input.ts';
import { pubSubName } from './names.ts';

/** How dead letters come back: by a topic of their own, so that who may replay is not who may publish. */

const nameRule = ruled('must be the name of a pipeline: 1 to 40 of a-z, 0-9 and "-", starting with a letter');

export const replayOptions = {
  replayTopic: optional(
    pubSubName(
      'Topic that dead letters come back by, pushed to the path /letters of the function: who may publish to it may replay. Of this pipeline alone; without it the id of topic, the name of the pipeline and "replay", joined by hyphens.',
      'topics',
    ),
  ),
  acceptLettersOf: declare(
    z.array(z.string(nameRule).regex(PIPELINE_NAME, nameRule)).prefault([]),
    'Pipelines whose letters are taken back too: names that this pipeline had before, so that their letters keep their identity. Letters of any other pipeline are refused.',
    { type: 'list', default: '[]', bounds: 'names of pipelines' },
  ),
};

/** As written, beside the topic that letters are published to. */
type Written = Output<typeof replayOptions> & { readonly topic: string };

export interface ResolvedReplay {
  /** `projects/p/topics/t`; the bare topic id where no project is configured. */
  readonly replayTopic: string;
  /** Pushes to the function: `projects/p/subscriptions/s`; the bare subscription id where no project is configured. */
  readonly replaySubscription: string;
  readonly acceptLettersOf: readonly string[];
}

export function replayOf(name: string, written: Written, project: string | undefined): ResolvedReplay {
  const replayTopic = replayTopicOf(name, written, project);
  return {
    replayTopic,
    replaySubscription: qualify(bareId(replayTopic), 'subscriptions', project ?? projectOf(replayTopic)),
    acceptLettersOf: written.acceptLettersOf,
  };
}

/** By which letters come back: the topic that is named, else one beside the topic that they are published to. */
export const replayTopicOf = (
  name: string,
  { topic, replayTopic }: Pick<Written, 'topic' | 'replayTopic'>,
  project: string | undefined,
): string =>
  replayTopic === undefined
    ? qualify(replayTopicId(name, topic), 'topics', projectOf(topic) ?? project)
    : qualify(replayTopic, 'topics', project);

const replayTopicId = (name: string, topic: string): string => `${bareId(topic)}-${name}-replay`;

interface ReplayOptions extends Pick<CommonOptions, 'project'>, Pick<InputOptions, 'topic'> {
  readonly deadLetter?: Written | undefined;
}

export const replayRules: readonly Rule<ReplayOptions>[] = [
  function lettersComeBackByTheirOwnWay({ name, options: { topic, deadLetter, project } }) {
    if (topic === undefined || deadLetter?.topic === undefined) return [];
    const replays = replayTopicOf(name, { ...deadLetter, topic: deadLetter.topic }, project);
    const others = { 'the topic of the pipeline': topic, 'the topic of dead letters': deadLetter.topic };
    const same = Object.entries(others).find(([, other]) => qualify(other, 'topics', project) === replays);
    if (!same) return [];
    const rule = `must be a topic of its own, and is ${same[0]}: who may replay would not be told from who may publish`;
    return [{ at: ['deadLetter', 'replayTopic'], rule, got: replays }];
  },
  function defaultReplayTopicIsShortEnough({ name, options: { deadLetter } }) {
    if (deadLetter?.topic === undefined || deadLetter.replayTopic !== undefined) return [];
    if (replayTopicId(name, deadLetter.topic).length <= MAX_RESOURCE_ID) return [];
    const rule = `is required because the default, id of topic, pipeline name and "-replay", is longer than ${MAX_RESOURCE_ID} characters`;
    return [{ at: ['deadLetter', 'replayTopic'], rule }];
  },
];
