import { createQuerySerializer } from 'openapi-fetch';

type Asked = Readonly<Record<string, unknown>>;

const inOneList = createQuerySerializer<Asked>({ array: { style: 'form', explode: false } });
const oneByOne = createQuerySerializer<Asked>({ array: { style: 'form', explode: true } });

/** A query as the API reads it: a list is one comma list, unless its name ends in `[]`. Then the name stands once for each value. */
export const queryText = (asked: Asked): string => {
  const named = (isRepeated: boolean): Asked =>
    Object.fromEntries(Object.entries(asked).filter(([name]) => name.endsWith('[]') === isRepeated));
  return [inOneList(named(false)), oneByOne(named(true))].filter((part) => part !== '').join('&');
};
