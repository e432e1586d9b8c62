import { qualify } from '../../addresses.ts';
import { deadLetterHasItsPolicy, type Rule, sinkRules } from '../sink/rules.ts';
import type { RequestSinkOptions } from './options.ts';

/** Rules between the options of a request sink. */
export const requestSinkRules: readonly Rule<RequestSinkOptions>[] = [
  ...sinkRules,
  deadLetterHasItsPolicy,
  function resultsDoNotComeBack({ options: { resultsTopic, topic, deadLetter, project } }) {
    if (resultsTopic === undefined) return [];
    const results = qualify(resultsTopic, 'topics', project);
    const isTopic = (other: string | undefined): boolean =>
      other !== undefined && qualify(other, 'topics', project) === results;
    const at = ['resultsTopic'];
    if (isTopic(topic)) {
      return [{ at, rule: 'must not be the topic of the pipeline: its results would come back', got: resultsTopic }];
    }
    if (!isTopic(deadLetter?.topic)) return [];
    return [
      {
        at,
        rule: 'must not be the topic of dead letters: whoever reads one has no use for the other',
        got: resultsTopic,
      },
    ];
  },
  function replaysLookLikeEmptyBranches({ options: { emptyBranchPolicy, replayProtection } }) {
    if (emptyBranchPolicy !== 'fail' || !replayProtection) return [];
    const rule =
      'must be ignore with replayProtection: a replay is answered like an empty branch, and a message that was applied would come back forever';
    return [{ at: ['emptyBranchPolicy'], rule, got: emptyBranchPolicy }];
  },
];
