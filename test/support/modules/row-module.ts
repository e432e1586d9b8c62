import type { RowModule } from '../../../shared/scan/forms/module-form.ts';

let prefix = 'not opened';

/** A module of a scan: one message for each row, with the prefix of its options. */
const rowModule: RowModule = {
  open(options) {
    ({ prefix } = options as { prefix: string });
  },
  messages: ({ key }) => [Buffer.from(`${prefix}:${key.toString()}`)],
};

export default rowModule;
