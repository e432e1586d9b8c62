import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import { ensureTables } from '../../cloud/table-resources.ts';
import type { Platform } from '../base/platform.ts';
import type { Progress } from '../base/progress.ts';
import { REMARK } from './bodies.ts';
import type { StagedState } from './checkpoints.ts';
import { refusedBy, type StagedPlan } from './plan.ts';
import type { Publishing } from './publish.ts';
import { type Tally, tally } from './tally.ts';

/** For each half of the messages. */
const PUBLISHING_SECONDS = 4;
const LOOK_MILLIS = 250;

export interface MissingFamily {
  readonly platform: Platform;
  readonly plan: StagedPlan;
  readonly stored: StagedState;
  readonly publishing: Publishing;
}

/**
 * Publishes what `remarks` reads: some of the records name a family that is made only once they are set apart. Tells what
 * was set apart by then.
 */
export async function publishRemarks(
  { platform, plan, stored, publishing }: MissingFamily,
  progress: Progress,
  signal: AbortSignal,
): Promise<Tally> {
  await publishing.remarks(plan.early, signal, PUBLISHING_SECONDS);
  const setApart = await untilSetApart({ plan, stored, publishing }, signal);
  await addRemarkFamily(platform);
  progress.say(
    `${setApart.refused} records of remarks were set apart, because they name the column family "${REMARK.family}"; it is added now, as an operator would, and they are tried again by themselves`,
  );
  await publishing.remarks(plan.late, signal, PUBLISHING_SECONDS);
  return setApart;
}

/** Waits until every record that names the missing family is set apart, or something else is. */
async function untilSetApart(
  { plan, stored, publishing }: Omit<MissingFamily, 'platform'>,
  signal: AbortSignal,
): Promise<Tally> {
  for (;;) {
    const found = (await stored.setApart('remarks')).flatMap(({ records }) => records);
    const now = tally(found, publishing.published, 'remarks');
    if (now.refused >= refusedBy('remarks', plan.early) || now.others > 0) return now;
    await sleep(systemClock, LOOK_MILLIS, signal);
  }
}

async function addRemarkFamily({ cloud, connector }: Platform): Promise<void> {
  const name = connector.pipelines.find((one) => one.name === 'remarks')?.table;
  if (!name) throw new TypeError('remarks must have a table');
  await ensureTables(cloud.bigtableHost, [{ name, families: { [REMARK.family]: {} } }]);
}
