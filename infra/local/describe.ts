import { formatTableName } from '../../shared/model/table-name.ts';
import type { LocalCloud } from './cloud.ts';
import type { LocalConnector, RunningPipeline } from './connector.ts';
import { textTable } from './text-table.ts';

/** What a person needs to use a local connector from another shell: where everything is, and lines that work. */
export function describeLocal(cloud: LocalCloud, connector: LocalConnector, configFile: string): string {
  const services = cloud.services.map(({ service, kind, endpoint, why }) => [service, kind, endpoint, why]);
  const pipelines = connector.pipelines.map(({ name, target, source, function: running }) => [
    ...[name, target, running.url, source.topic],
  ]);
  return [
    ...[...cloud.warnings, ...connector.warnings].map((warning) => `warning: ${warning}`),
    textTable(['service', 'kind', 'endpoint', 'why'], services),
    textTable(['pipeline', 'function', 'url', 'topic'], pipelines),
    'In another shell:',
    ...Object.entries(cloud.env).map(([name, value]) => `  export ${name}=${value}`),
    `  export CONNECTOR_CONFIG_FILE=${configFile}`,
    '',
    ...connector.pipelines.flatMap(describePipeline),
    'Ctrl-C drains the functions and stops everything.',
    '',
  ].join('\n');
}

function describePipeline({ name, table, deadLetters, source, function: running }: RunningPipeline): string[] {
  const push = JSON.stringify({
    message: { data: '$DATA', messageId: '1', publishTime: '2026-01-01T00:00:00Z' },
    subscription: source.subscription,
  });
  return [
    `Pipeline ${name}, with a record in the file record.json:`,
    `  npm run connector -- publish ${name} record.json`,
    `  DATA=$(base64 -w0 record.json); curl -i ${running.url} -H 'content-type: application/json' -d "${push.replaceAll('"', String.raw`\"`)}"`,
    ...(table ? [`  npm run local -- rows ${formatTableName(table)}`] : []),
    ...(deadLetters ? [`  npm run connector -- replay-dlq ${name} --subscription ${deadLetters.subscription}`] : []),
    '',
  ];
}
