import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DeploymentPlan } from '../../../shared/deployment/plan.ts';
import { formatTableName } from '../../../shared/model/table-name.ts';
import type { LocalCloud } from '../cloud/cloud.ts';
import type { LocalConnector, RunningPipeline } from './connector.ts';
import type { RunningFunction } from './start-functions.ts';
import { textTable } from '../../../shared/base/text-table.ts';

/** What a person needs to use a local connector from another shell: where everything is, and lines that work. */
export function describeLocal(cloud: LocalCloud, connector: LocalConnector, configFile: string): string {
  const services = cloud.services.map(({ service, kind, endpoint, why }) => [service, kind, endpoint, why]);
  const functions = connector.functions.map((one) => [
    ...[one.label, one.entryPoint, one.process.url, triggerOf(one, connector.plan)],
  ]);
  return [
    ...[...cloud.warnings, ...connector.warnings].map((warning) => `warning: ${warning}`),
    textTable([['service', 'kind', 'endpoint', 'why'], ...services]),
    '',
    textTable([['pipeline', 'function', 'url', 'topic'], ...functions]),
    '',
    'In another shell:',
    ...Object.entries(cloud.env).map(([name, value]) => `  export ${name}=${value}`),
    `  export CONNECTOR_CONFIG_FILE=${configFile}`,
    '',
    ...connector.pipelines.flatMap((pipeline) =>
      describePipeline(pipeline, besideConfiguration(configFile, 'record.json')),
    ),
    ...connector.functions
      .filter(({ entryPoint }) => entryPoint === 'rowRequest')
      .flatMap((one) => describeRowRequest(one, configFile)),
    'Ctrl-C drains the functions and stops everything.',
    '',
  ].join('\n');
}

/** What brings a function its requests: a topic, a schedule, or whoever calls it. */
function triggerOf({ name }: RunningFunction, { subscriptions, schedules }: DeploymentPlan): string {
  const topic = subscriptions.find(({ push }) => push?.function === name)?.topic;
  const jobs = schedules.filter((schedule) => schedule.function === name);
  const slots = jobs.filter(({ slot }) => slot !== undefined).length;
  if (topic !== undefined) return topic;
  if (jobs.length === 0) return 'HTTP';
  return slots > 0 ? `every minute, ${slots} slots` : 'every minute';
}

/** Something to try with: the first of these files that is beside the configuration, or one that is still to be written. */
function besideConfiguration(configFile: string, ...names: readonly [string, ...string[]]): string {
  const paths = names.map((name) => join(dirname(configFile), name));
  return paths.find((path) => existsSync(path)) ?? names[0];
}

function describeRowRequest({ label, process: { url } }: RunningFunction, configFile: string): string[] {
  const request = besideConfiguration(configFile, `${label}-request.json`, 'request.json');
  return [
    `Row requests of ${label}: send one, and get its result.`,
    `  curl -s ${url} -H 'content-type: application/json' -d @${request}`,
    '',
  ];
}

function describePipeline(
  { name, table, deadLetters, input, function: running }: RunningPipeline,
  record: string,
): string[] {
  const push = JSON.stringify({
    message: { data: '$DATA', messageId: '1', publishTime: '2026-01-01T00:00:00Z' },
    subscription: input.name,
  }).replaceAll('"', String.raw`\"`);
  return [
    `Pipeline ${name}: publish a record, or push one past Pub/Sub; read the rows and the dead letters.`,
    `  npm run connector -- publish ${name} ${record}`,
    `  DATA=$(base64 < ${record} | tr -d '\\n'); curl -i ${running.url} -H 'content-type: application/json' -d "${push}"`,
    ...(table ? [`  npm run local -- rows ${formatTableName(table)}`] : []),
    ...(deadLetters ? [`  npm run connector -- replay-dlq ${name} --subscription ${deadLetters.name}`] : []),
    '',
  ];
}
