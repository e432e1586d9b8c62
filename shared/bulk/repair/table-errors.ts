import { ConnectorError } from '../../base/errors.ts';
import { formatTableName, type TableName } from '../../model/table-name.ts';

/** The table's schema changes against us: deleted while it is being ensured. It may be tried again. */
export class UnstableTableError extends ConnectorError {
  override readonly name = 'UnstableTableError';
}

/** A family exists with another type than it is declared with. Trying again cannot help: a type never changes. */
export class FamilyTypeError extends ConnectorError {
  override readonly name = 'FamilyTypeError';
  readonly family: string;

  constructor(table: TableName, family: string, actual: string, expected: string) {
    super(
      `the column family ${family} of ${formatTableName(table)} is of the type ${actual}, but the pipeline declares ${expected}; fix its mapping or tableCreateOptions, or write to another family or table`,
    );
    this.family = family;
  }
}
