import { fileURLToPath } from 'node:url';
import { describeExit, startChild } from '../../base/child-process.ts';
import { LocalCloudError } from '../../base/local-error.ts';
import type { LocalCloud } from '../../cloud/cloud.ts';

const CLI = fileURLToPath(new URL('../../../../functions/cli/main.ts', import.meta.url));

/** Starts a run as a person does: `npm run connector -- scan start <pipeline> --run <id>`. */
export async function startRun(
  { env }: Pick<LocalCloud, 'env'>,
  { configFile, pipeline, run }: { readonly configFile: string; readonly pipeline: string; readonly run: string },
): Promise<void> {
  const child = await startChild({
    name: 'scan start',
    command: process.execPath,
    args: [CLI, 'scan', 'start', pipeline, '--config', configFile, '--run', run],
    // Inherited from a shell they would name another configuration.
    env: { ...env, CONNECTOR_CONFIG: undefined, CONNECTOR_CONFIG_FILE: undefined, CONNECTOR_PIPELINE: undefined },
  });
  const exit = await child.exited;
  if (exit.code === 0) return;
  throw new LocalCloudError(
    [`scan start ${pipeline} ended with ${describeExit(exit)}; its last lines:`, ...child.lastLines()].join('\n  '),
  );
}
