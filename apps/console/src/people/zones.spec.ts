import { describe, expect, it } from 'vitest';
import { placeName, zonesByPlace } from './zones.ts';

describe('zonesByPlace', () => {
  it('has them by their part of the world, and what is in none at the end', () => {
    expect(zonesByPlace(['Europe/Vienna', 'America/New_York', 'Europe/Paris'], 'UTC')).toEqual([
      ['America', ['America/New_York']],
      ['Europe', ['Europe/Paris', 'Europe/Vienna']],
      ['Other', ['UTC']],
    ]);
  });

  it('keeps one that this browser does not know, and none twice', () => {
    const zones = zonesByPlace(['UTC', 'Europe/Paris'], 'Antarctica/New').flatMap(([, names]) => names);
    expect(zones).toEqual(['Antarctica/New', 'Europe/Paris', 'UTC']);
  });
});

it('placeName says the place, and where it is', () => {
  expect(['Europe/Vienna', 'America/Argentina/Buenos_Aires', 'UTC'].map(placeName)).toEqual([
    'Vienna',
    'Buenos Aires, Argentina',
    'UTC',
  ]);
});
