import { map } from 'rxjs';

export const used = map;
