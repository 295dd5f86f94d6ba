/** Rows of a shop whose people are invented. The same at every call: what a reader is shown, everybody finds. */
export interface DemoRows {
  readonly customers: readonly Row[];
  readonly orders: readonly Row[];
  readonly refunds: readonly Row[];
}

export type Row = Readonly<Record<string, string | number>>;

const PEOPLE = [
  ['Ada Lindqvist', 'Uppsala'],
  ['Bruno Carvalho', 'Porto'],
  ['Chiara Bellini', 'Bologna'],
  ['Dario Novak', 'Zagreb'],
  ['Elif Yalman', 'Izmir'],
  ['Femi Adebayo', 'Ibadan'],
  ['Greta Hollmann', 'Bremen'],
  ['Hugo Desmet', 'Ghent'],
  ['Ines Marchetti', 'Turin'],
  ['Jonas Kettler', 'Basel'],
  ['Kaya Whitfield', 'Leeds'],
  ['Leon Dubrovsky', 'Riga'],
  ['Mina Haddad', 'Lyon'],
  ['Nils Aakre', 'Bergen'],
  ['Olga Petrenko', 'Lviv'],
  ['Pilar Fuentes', 'Seville'],
  ['Quentin Marsh', 'Bristol'],
  ['Rosa Delgado', 'Valencia'],
  ['Samir Qureshi', 'Malmö'],
  ['Tove Ekdal', 'Aarhus'],
] as const;

const PLANS = ['solo', 'team', 'business'] as const;

const ITEMS = [
  ['Desk lamp', 4_900],
  ['Notebook, ruled', 1_250],
  ['Standing mat', 6_900],
  ['Tea, 500 g', 1_890],
  ['Travel mug', 2_400],
  ['Wall clock', 3_750],
] as const;

const ORDERS = 60;
const STATES = ['shipped', 'shipped', 'paid', 'cancelled'] as const;
const FIRST_ORDER_MS = Date.UTC(2026, 0, 5, 8);
const BETWEEN_ORDERS_MS = 31 * 3_600_000 + 17 * 60_000;
const MS_PER_DAY = 86_400_000;

const REFUNDED_ORDERS = [4, 17, 29, 38, 51] as const;
const REASONS = ['Arrived broken', 'Ordered twice', 'Wrong colour', 'Came too late', 'Not as described'] as const;

const at = (ms: number): string => new Date(ms).toISOString();
const itemOf = (order: number): (typeof ITEMS)[number] => ITEMS[(order * 5) % ITEMS.length] ?? ITEMS[0];
const orderedAtMs = (order: number): number => FIRST_ORDER_MS + order * BETWEEN_ORDERS_MS;

const customerRow = ([name, city]: (typeof PEOPLE)[number], index: number): Row => ({
  id: index + 1,
  name,
  email: `${(name.split(' ')[0] ?? '').toLowerCase()}@example.com`,
  city,
  plan: PLANS[(index * 7) % PLANS.length] ?? 'solo',
  created_at: at(FIRST_ORDER_MS - (PEOPLE.length - index) * 3 * MS_PER_DAY),
});

const orderRow = (_: unknown, index: number): Row => {
  const id = index + 1;
  const [item, price] = itemOf(id);
  const pieces = 1 + (id % 3);
  return {
    id,
    customer_id: 1 + ((id * 7) % PEOPLE.length),
    item,
    pieces,
    amount_cents: pieces * price,
    status: STATES[(id * 3) % STATES.length] ?? 'paid',
    ordered_at: at(orderedAtMs(id)),
  };
};

const refundRow = (order: number, index: number): Row => ({
  id: index + 1,
  order_id: order,
  amount_cents: itemOf(order)[1],
  reason: REASONS[index] ?? REASONS[0],
  status: index === 0 ? 'paid' : 'requested',
  requested_at: at(orderedAtMs(order) + 4 * MS_PER_DAY),
});

export const demoRows = (): DemoRows => ({
  customers: PEOPLE.map(customerRow),
  orders: Array.from({ length: ORDERS }, orderRow),
  refunds: REFUNDED_ORDERS.map(refundRow),
});
