import { qualify } from '../../addresses.ts';
import { MAX_RESOURCE_ID, type Rule, sinkRules } from '../sink/rules.ts';
import { stagingNames, type StagedSinkOptions } from './options.ts';
import { commitId } from './resolved.ts';

/** Rules between the options of a staged sink. */
export const stagedSinkRules: readonly Rule<StagedSinkOptions>[] = [
  ...sinkRules,
  function deadLettersHaveASource({ options: { failurePolicy, onRejected }, isSet }) {
    if (failurePolicy === undefined || onRejected === undefined) return [];
    const needed = [
      ...(failurePolicy === 'dead-letter' ? ['the failurePolicy dead-letter'] : []),
      ...(onRejected === 'dead-letter' ? ['onRejected dead-letter'] : []),
    ];
    if (isSet('deadLetter') === needed.length > 0) return [];
    return isSet('deadLetter')
      ? [{ at: ['deadLetter'], rule: 'must not be set unless failurePolicy or onRejected is "dead-letter"' }]
      : [{ at: ['deadLetter'], rule: `is required by ${needed.join(' and ')}` }];
  },
  function onReceiptStagesNothing({ options, isSet }) {
    if (options.commit !== 'on-receipt') return [];
    const rule = 'does not apply to the commit on-receipt, which stages nothing';
    return stagingNames.filter(isSet).map((name) => ({ at: [name], rule }));
  },
  function checkpointsKeepNoOrder({ options: { commit, ordering } }) {
    if (commit !== 'on-checkpoint' || ordering !== 'row') return [];
    const rule =
      'must be "none" with the commit on-checkpoint: what is staged is written in parallel, in no order of messages. The commit on-receipt keeps it';
    return [{ at: ['ordering'], rule, got: ordering }];
  },
  function workIsAlone({ options: { commit, commitTopic, topic, deadLetter, project } }) {
    if (commit !== 'on-checkpoint' || commitTopic === undefined) return [];
    const work = qualify(commitTopic, 'topics', project);
    const others = [topic, deadLetter?.topic].filter((other) => other !== undefined);
    if (!others.some((other) => qualify(other, 'topics', project) === work)) return [];
    const rule = 'must be a topic of its own: neither that of the pipeline nor that of dead letters';
    return [{ at: ['commitTopic'], rule, got: commitTopic }];
  },
  function defaultCommitNamesAreShortEnough({ name, options: { commit, topic }, isSet }) {
    if (commit !== 'on-checkpoint' || topic === undefined) return [];
    if (commitId(name, topic).length <= MAX_RESOURCE_ID) return [];
    const rule = `is required because the default, topic id, pipeline name and "-commit", is longer than ${MAX_RESOURCE_ID} characters`;
    return (['commitTopic', 'commitSubscription'] as const)
      .filter((option) => !isSet(option))
      .map((option) => ({ at: [option], rule }));
  },
];
