/// What quotes.rk.cl answers.
#ifndef QUOTES_H
#define QUOTES_H
#define QUOTES ")rk_source\"\\;"
#endif
