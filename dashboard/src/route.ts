// SPDX-License-Identifier: Apache-2.0
//
// What is shown is in the address, behind the #, so that a link shows the same
// and no proxy's path gets in the way: #/studies/imdb/plan?order=number
import {useEffect, useState} from 'preact/hooks';

export interface Route {
  parts: string[];  // "studies", "imdb", "plan"
  view: URLSearchParams;
}

const read = (): Route => {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const plain = (text: string) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  return {parts: path.split('/').filter((one) => one !== '').map(plain),
    view: new URLSearchParams(query)};
};

export const useRoute = (): Route => {
  const [route, setRoute] = useState(read);
  useEffect(() => {
    const update = () => setRoute(read());
    window.addEventListener('hashchange', update);
    return () => window.removeEventListener('hashchange', update);
  }, []);
  return route;
};

export const go = (path: string) => {
  location.hash = path;
};

// Changes settings of the view, in place; "" takes one away.
export const setViews = (settings: Record<string, string>) => {
  const [path = '', query = ''] = location.hash.replace(/^#/, '').split('?');
  const view = new URLSearchParams(query);
  for (const [name, value] of Object.entries(settings)) {
    if (value === '') view.delete(name);
    else view.set(name, value);
  }
  const text = view.toString();
  history.replaceState(null, '', `#${path}${text ? `?${text}` : ''}`);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
};

export const setView = (name: string, value: string) =>
  setViews({[name]: value});

// What is selected goes along to another view of the same study.
export const keptIn = (view: URLSearchParams): string => {
  const kept = new URLSearchParams();
  for (const name of ['only', 'score', 'module']) {
    const value = view.get(name);
    if (value) kept.set(name, value);
  }
  const text = kept.toString();
  return text ? `?${text}` : '';
};
