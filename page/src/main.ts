import { mount } from 'svelte';
import App from './App.svelte';
import { startTheme } from './lib/frame.svelte';
import { session } from './lib/session.svelte';
import './page.css';

startTheme();
void session.start();
mount(App, { target: document.getElementById('page')! });
