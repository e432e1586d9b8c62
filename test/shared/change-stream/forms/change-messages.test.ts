import { expect, test } from 'vitest';
import { CHANGE_ATTRIBUTES, sourceAttributes } from '../../../../shared/change-stream/forms/attributes.ts';
import { changeIds } from '../../../../shared/change-stream/forms/change-id.ts';
import { envelopeForm } from '../../../../shared/change-stream/forms/envelope-form.ts';
import {
  changeMessages,
  type ChangeMessagesOptions,
  DEFAULT_KEY_GROUPS,
} from '../../../../shared/change-stream/forms/change-messages.ts';
import { EMISSION_ATTRIBUTES } from '../../../../shared/emission/messages/attributes.ts';
import { groupOf } from '../../../../shared/emission/messages/ordering-key.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { changeOf } from '../../../support/changes.ts';

const table = tableName('p', 'i', 't');
const form = envelopeForm(table);
const messagesOf = (options: Partial<ChangeMessagesOptions> = {}) =>
  changeMessages({ table, form, orderingKeys: DEFAULT_KEY_GROUPS, isPacked: false, ...options });

test('a change is one message with an envelope, whose id, times and origin are its attributes', () => {
  const id = changeIds(table)(changeOf());
  const [message, ...more] = messagesOf()(changeOf(), undefined);
  expect(more).toEqual([]);
  expect(JSON.parse(String(message?.data))).toMatchObject({ id });
  expect(message?.attributes).toEqual({
    id,
    'commit-time': '1700000000123456789',
    type: 'USER',
    'source-cluster': 'c1',
    'low-watermark': '1700000000000000001',
    'ce-id': id,
    'ce-time': '2023-11-14T22:13:20.123456789Z',
    'row-key': 'row',
  });
});

test('a collection of garbage has no attribute of a cluster', () => {
  const [message] = messagesOf()(changeOf({ type: 'GARBAGE_COLLECTION', sourceCluster: '' }), undefined);
  expect(message?.attributes).toMatchObject({ type: 'GARBAGE_COLLECTION' });
  expect(message?.attributes).not.toHaveProperty('source-cluster');
});

test.each(['tokenless', 'fallback'] as const)('a message of a partition that began anew says how: %s', (how) => {
  const [message] = messagesOf()(changeOf(), { how, until: 1n });
  expect(message?.attributes).toMatchObject({ restarted: how });
});

test('a time on a whole second has nine zeros behind it', () => {
  const [message] = messagesOf()(changeOf({ commitTime: 1_700_000_000_000_000_000n }), undefined);
  expect(message?.attributes).toMatchObject({ 'ce-time': '2023-11-14T22:13:20.000000000Z' });
});

test('changes of a row share the key of its group, of which there are 64 where nothing else is asked for', () => {
  const rowKey = Buffer.from('user#7');
  const [message] = messagesOf()(changeOf({ rowKey }), undefined);
  expect(message?.orderingKey).toBe(`group-${groupOf(rowKey, 64)}`);
});

test('changes have the key of their row, or none, where that is asked for', () => {
  expect(messagesOf({ orderingKeys: 'row' })(changeOf(), undefined)[0]?.orderingKey).toBe('row');
  expect(messagesOf({ orderingKeys: 'none' })(changeOf(), undefined)[0]).not.toHaveProperty('orderingKey');
});

test('a change in a pack has no attributes of its own', () => {
  expect(messagesOf({ isPacked: true })(changeOf(), undefined)[0]?.attributes).toEqual({});
});

test('the messages of a source name their form and table, and are events of CloudEvents unless they are packs', () => {
  expect(sourceAttributes(table, form, false)).toEqual({
    form: 'envelope',
    'form-version': '1',
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-source': '//bigtable.googleapis.com/projects/p/instances/i/tables/t',
    'ce-type': 'bigtable.change.v1',
  });
  expect(sourceAttributes(table, form, true)).toEqual({ form: 'envelope', 'form-version': '1' });
});

test('every attribute that is set is in its table', () => {
  const listed = [...Object.values(CHANGE_ATTRIBUTES), ...Object.values(EMISSION_ATTRIBUTES)].map(({ name }) => name);
  const [message] = messagesOf()(changeOf(), { how: 'fallback', until: 1n });
  const set = Object.keys({ ...sourceAttributes(table, form, false), ...message?.attributes });
  expect(set.filter((name) => !(listed as string[]).includes(name))).toEqual([]);
  expect(Object.values(CHANGE_ATTRIBUTES).filter(({ name }) => !set.includes(name))).toEqual([]);
});
