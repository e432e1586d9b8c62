import type { TableCalls } from '../../shared/bulk/ports.ts';
import { TableAdminError } from '../../shared/model/table-admin-error.ts';
import type { ResolvedTableCreateOptions } from '../../shared/config/resolved.ts';
import type { TableName } from '../../shared/model/table-name.ts';
import type { StatusName } from '../../shared/model/status.ts';

/**
 * The admin API of one table, in memory. Models what was measured of the service: creating what exists is refused, and
 * of an addition of families either all are made or none. `before` runs ahead of a call, as another instance would.
 */
export class FakeTableCalls implements TableCalls {
  /** Family → type; undefined while there is no table. */
  families: Map<string, string> | undefined;
  readonly log: string[] = [];
  before: (call: string) => void = () => undefined;

  constructor(families?: Readonly<Record<string, string>>) {
    this.families = families && new Map(Object.entries(families));
  }

  create(_table: TableName, { families }: ResolvedTableCreateOptions): Promise<boolean> {
    return this.#call('create', () => {
      if (this.families) return false;
      this.families = new Map(Object.entries(families).map(([name, { type }]) => [name, type]));
      return true;
    });
  }

  read(): Promise<ReadonlyMap<string, string> | undefined> {
    return this.#call('read', () => this.families && new Map(this.families));
  }

  addFamilies(table: TableName, added: ResolvedTableCreateOptions['families']): Promise<boolean> {
    return this.#call(`add ${Object.keys(added).join(' ')}`, () => {
      const { families } = this;
      if (!families) throw new TableAdminError('ModifyColumnFamilies', table, { code: 'NOT_FOUND', message: 'none' });
      if (Object.keys(added).some((name) => families.has(name))) return false;
      for (const [name, { type }] of Object.entries(added)) families.set(name, type);
      return true;
    });
  }

  /** Every call fails with the status until it is set otherwise. */
  failWith(table: TableName, code: StatusName): void {
    this.before = (call) => {
      throw new TableAdminError(call, table, { code, message: 'on request' });
    };
  }

  #call<Result>(name: string, apply: () => Result): Promise<Result> {
    this.log.push(name);
    return new Promise((resolve) => {
      this.before(name);
      resolve(apply());
    });
  }
}
