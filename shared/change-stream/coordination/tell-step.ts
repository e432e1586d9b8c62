import type { Runtime } from '../../base/runtime.ts';
import { formatRange } from '../../model/row-range.ts';
import { describeLedger } from '../ledger/describe-ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Recovery } from '../ledger/reconcile.ts';
import { formatNanos } from '../ledger/retention.ts';
import type { SourceStep } from './source-step.ts';

type Telling = Pick<Runtime, 'logger' | 'metrics'>;

/** What a step did, in the log and in metrics. @param ledger that it measured against. */
export function tellStep(
  { event, source, changes, reconciliation }: SourceStep,
  ledger: Ledger | undefined,
  { logger, metrics }: Telling,
): void {
  const { generation, problem } = source;
  if (event === 'started') {
    const made = changes.filter(({ kind }) => kind === 'new-partition').length;
    metrics.count('partitionsDiscovered', made);
    logger.log('INFO', 'the source is read from now on', { generation });
  }
  if (event === 'batch') metrics.count('partitionsDiscovered', changes.length);
  if (event === 'stopped') logger.log('ERROR', 'the source is stopped; it is tried again every minute', { problem });
  if (event === 'resumed') logger.log('INFO', 'nothing holds the source up any more: it is read again');
  if (event === 'done') logger.log('INFO', 'the source is read to its end', { generation });
  if (reconciliation && ledger)
    for (const recovery of reconciliation.recoveries) tellRecovery(recovery, ledger, { logger, metrics });
}

function tellRecovery(
  { partition, how, lost, isClamped }: Recovery,
  ledger: Ledger,
  { logger, metrics }: Telling,
): void {
  metrics.count('changeStreamPartitionsReconciled');
  const fields = {
    partition: formatRange(partition.range),
    lost: formatNanos(lost),
    from: formatNanos(partition.position.lowWatermark),
  };
  if (how === 'tokens') {
    logger.log('WARNING', 'a part of the table that nobody read is read on from tokens that waited for others', fields);
    return;
  }
  metrics.count(isClamped ? 'changeStreamClampedRestarts' : 'changeStreamTokenlessRestarts');
  const words = isClamped
    ? 'a part of the table that nobody read for 20 minutes is read again from the earliest change that is kept: changes before it are lost'
    : 'a part of the table that nobody read for 20 minutes is read again from its last known position: changes come twice';
  logger.log(isClamped ? 'ERROR' : 'WARNING', words, { ...fields, ledger: describeLedger(ledger) });
}
