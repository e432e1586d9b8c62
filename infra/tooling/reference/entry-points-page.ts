import { type EntryPointDeclaration, entryPoints, type Trigger } from '../../../shared/deployment/entry-points.ts';
import type { Grant } from '../../../shared/deployment/grants.ts';
import { code, table } from './markdown.ts';

/** The tables of the page of entry points, made of those that a deployment is planned by. */

export const entryPointsTable = (): string =>
  table(
    ['entry point', 'trigger', 'does', '204 means'],
    entryPoints.map(({ name, trigger, does, answers }) => [code(name), triggerText(trigger), does, answers]),
  );

export const sizesTable = (): string =>
  table(
    ['entry point', 'CPU', 'memory', 'concurrency', 'timeout', 'instances at most'],
    entryPoints.map(({ name, size: { cpu, memory, concurrency, timeoutSeconds, maxInstances } }) => [
      ...[code(name), String(cpu), memory, String(concurrency), `${timeoutSeconds} s`],
      maxInstances === undefined ? '' : String(maxInstances),
    ]),
  );

export const rolesTable = (): string =>
  table(
    ['entry point', 'role of the function', 'on', 'needed', `${code('roles/run.invoker')} for`],
    entryPoints.flatMap(({ name, grants, trigger }) =>
      mergedGrants(grants).map(({ role, on, needed }, index) => [
        ...[code(name), role, on, needed],
        index === 0 ? CALLERS[trigger.kind] : '',
      ]),
    ),
  );

function triggerText(trigger: Trigger): string {
  switch (trigger.kind) {
    case 'push':
      return trigger.of === 'records' ? 'Pub/Sub push (HTTP)' : 'Pub/Sub push (HTTP) of the commit topic';
    case 'schedule':
      return `Cloud Scheduler (HTTP), ${code(trigger.cron)}${trigger.slots ? ', a job for each slot' : ''}`;
    case 'http':
      return 'HTTP';
    default:
      return trigger satisfies never;
  }
}

const CALLERS: Readonly<Record<Trigger['kind'], string>> = {
  push: 'the push account',
  schedule: 'the account of the Scheduler job',
  http: 'its callers',
};

/** The same role on the same thing is one row, whatever it is needed for. */
function mergedGrants(
  grants: EntryPointDeclaration['grants'],
): { readonly role: string; readonly on: string; readonly needed: string }[] {
  const same = Map.groupBy(grants, ({ role, on }) => `${role} ${on}`);
  return [...same.values()].flatMap((group) => {
    const [first] = group;
    const conditions = group.flatMap(({ when }) => when?.words ?? []);
    return first ? [{ role: roleText(first), on: first.on, needed: conditions.join('; or ') || 'always' }] : [];
  });
}

const roleText = ({ role, permissions = [] }: Grant): string =>
  permissions.length === 0
    ? code(role)
    : `${code(role)}, or a role of your own with ${permissions.map(code).join(', ')}`;
